#pragma once

#include <nlohmann/json_fwd.hpp>

#include "app/common/describe.h"

namespace attn::view {

class Fields;

// Described values as JSON. Users of this header link attn::json too.

/// How a reader treats a missing name: the value stays unchanged, or it is an error.
enum class Missing : std::uint8_t { keeps, complains };

/// Fills the described fields from the object of `fields`.
class JsonReader : public Visitor {
  public:
    explicit JsonReader(Fields& fields, Missing missing = Missing::keeps)
        : fields_(fields), missing_(missing) {}
    void complain(std::string_view sentence) override;
    bool reads() const override { return true; }

  protected:
    void leaf(std::string_view name, Leaf value, const About& about) override;
    void choice(std::string_view name, std::size_t& n, Names names, const About& about) override;
    void object(std::string_view name, const About& about, const Inside& inside) override;
    bool maybe(std::string_view name, bool there) override;
    void list(std::string_view name, std::size_t& count, const About& about,
              const Each& each) override;

  private:
    bool has(std::string_view name, const About& about);
    template <class T>
    void read(std::string_view name, T& value, const About& about);
    void read(std::string_view name, std::vector<Index>& value, const About& about);
    void read(std::string_view name, std::vector<std::vector<Index>>& value, const About& about);
    void read(std::string_view name, std::map<std::string, std::string>& value, const About& about);

    Fields& fields_;
    Missing missing_;
};

/// The objects of the list under `key`, each read by `read`; nothing happens when it is missing.
void read_each(Fields& fields, std::string_view key, const Visitor::Inside& read);

/// How an empty optional is written.
enum class None : std::uint8_t { left_out, null };

/// Appends the described fields to an object.
class JsonWriter : public Visitor {
  public:
    explicit JsonWriter(nlohmann::ordered_json& object, None none = None::left_out)
        : object_(object), none_(none) {}

  protected:
    void leaf(std::string_view name, Leaf value, const About&) override;
    void choice(std::string_view name, std::size_t& n, Names names, const About&) override;
    void object(std::string_view name, const About& about, const Inside& inside) override;
    bool maybe(std::string_view name, bool there) override;
    void list(std::string_view name, std::size_t& count, const About& about,
              const Each& each) override;

  private:
    nlohmann::ordered_json& object_;
    None none_;
};

}  // namespace attn::view
