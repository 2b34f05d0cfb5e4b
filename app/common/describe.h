#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include "app/common/names.h"
#include "core/sizes.h"

namespace attn {
enum class Stage : std::uint8_t;
}

namespace attn::view {

// Described values. One function next to a value has everything that a session, a journal, undo or a control needs to know of it:
//
//   inline void describe(Visitor& visit, SaturationLook& look) {
//       visit("details", look.details, {.words = "details"});
//   }
//
// Readers, writers and controls of described values are Visitors.

/// Facts of one field, in addition to its name.
struct About {
    std::string_view text =
        {};  // its name on screen and in undo's sentence; "": the name of the field
    std::string_view tip = {};                              // its purpose, one sentence
    double low = -std::numeric_limits<double>::infinity();  // of a number, both ends included
    double high = std::numeric_limits<double>::infinity();
    bool needed = false;  // a reader complains where it is missing
};

class Visitor;
template <class T>
concept Described = requires(Visitor& visit, T& value) {
    describe(visit, value);
};

/// A field that is not a struct, an enum or a list of structs.
using Leaf = std::variant<bool*, int*, Index*, std::uint64_t*, double*, std::string*,
                          std::vector<double>*, std::vector<Index>*,
                          std::vector<std::vector<Index>>*, std::map<std::string, std::string>*>;
template <class T>
concept IsLeaf = std::is_constructible_v<Leaf, T*>;

class Visitor {
  public:
    using Names = std::span<const std::string_view>;
    using Inside = std::function<void(Visitor&)>;
    using Each = std::function<void(Visitor&, std::size_t)>;

    virtual ~Visitor() = default;

    template <IsLeaf T>
    void operator()(std::string_view name, T& value, const About& about = {}) {
        leaf(name, &value, about);
    }
    void operator()(std::string_view name, Stage& value, const About& about = {});
    /// An enum by its names, in the order of its values.
    template <class Enum>
    requires std::is_enum_v<Enum>
    void operator()(std::string_view name, Enum& value, Names names, const About& about = {}) {
        auto n = static_cast<std::size_t>(value);
        choice(name, n, names, about);
        value = static_cast<Enum>(n);
    }
    template <class Enum>
    requires(std::is_enum_v<Enum>&& std::size(kNamesOf<Enum>) > 0) void operator()(
        std::string_view name, Enum& value, const About& about = {}) {
        (*this)(name, value, kNamesOf<Enum>, about);
    }
    /// A described struct: an object of its own.
    template <Described T>
    void operator()(std::string_view name, T& value, const About& about = {}) {
        object(name, about, [&value](Visitor& inside) { describe(inside, value); });
    }
    /// None: the name is missing.
    template <class T, class... More>
    void operator()(std::string_view name, std::optional<T>& value, const More&... more) {
        bool there = value.has_value();
        if (!maybe(name, there)) return value.reset();
        if (!value) value.emplace();
        (*this)(name, *value, more...);
    }
    template <Described T>
    void operator()(std::string_view name, std::vector<T>& value, const About& about = {}) {
        std::size_t count = value.size();
        list(name, count, about, [&value](Visitor& inside, std::size_t n) {
            if (n >= value.size()) value.resize(n + 1);
            describe(inside, value[n]);
        });
        value.resize(count);
    }

    /// Reports an invalid value of a reader: "has 'd_k' = 0: expected …", or ": …" after the name of what is read.
    virtual void complain(std::string_view) {}
    /// Whether a value comes from outside, so that it is worth checking.
    virtual bool reads() const { return false; }

  protected:
    virtual void leaf(std::string_view name, Leaf value, const About& about) = 0;
    virtual void choice(std::string_view name, std::size_t& n, Names names, const About& about) = 0;
    virtual void object(std::string_view name, const About& about, const Inside& inside) = 0;
    /// Whether an optional has a value from now on; `there`: it has one.
    virtual bool maybe(std::string_view name, bool there) = 0;
    /// Calls `each` for every element; `count` is how many there are from now on.
    virtual void list(std::string_view name, std::size_t& count, const About& about,
                      const Each& each) = 0;
};

/// A Visitor that ignores fields: override the functions for the wanted ones.
class IdleVisitor : public Visitor {
  protected:
    void leaf(std::string_view, Leaf, const About&) override {}
    void choice(std::string_view, std::size_t&, Names, const About&) override {}
    void object(std::string_view, const About&, const Inside& inside) override { inside(*this); }
    bool maybe(std::string_view, bool there) override { return there; }
    void list(std::string_view, std::size_t& count, const About&, const Each& each) override {
        for (std::size_t n = 0; n < count; ++n) each(*this, n);
    }
};

}  // namespace attn::view
