#include "app/common/set_field.h"

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/format.h"
#include "app/common/logits.h"

namespace attn::view {
namespace {

/// Meets every field as a value, which may be changed.
class EachField : public IdleVisitor {
  public:
    using Meet = std::function<void(std::string_view name, FieldValue& value, const About& about,
                                    Names names)>;
    enum class Reads : std::uint8_t { no, yes };
    EachField(Meet meet, Reads reads = Reads::no) : meet_(std::move(meet)), reads_(reads) {}
    bool reads() const override { return reads_ == Reads::yes; }
    void complain(std::string_view sentence) override {
        if (complaint.empty()) complaint = sentence;
    }
    std::string complaint;  // the first

  protected:
    void leaf(std::string_view name, Leaf value, const About& about) override {
        std::visit(
            [&]<class T>(T* field) {
                if constexpr (std::is_constructible_v<FieldValue, T>) met(name, *field, about);
            },
            value);
    }
    void choice(std::string_view name, std::size_t& n, Names names, const About& about) override {
        Chosen chosen{n};
        met(name, chosen, about, names);
        n = chosen.n;
    }
    void object(std::string_view, const About&, const Inside&) override {}

  private:
    template <class T>
    void met(std::string_view name, T& value, const About& about, Names names = {}) {
        FieldValue now = value;
        meet_(name, now, about, names);
        value = std::get<T>(std::move(now));
    }

    Meet meet_;
    Reads reads_;
};

/// "fixed_logits" -> "fixed logits".
std::string spaced(std::string_view name) {
    std::string text(name);
    std::ranges::replace(text, '_', ' ');
    return text;
}

template <class... F>
struct Overloaded : F... {
    using F::operator()...;
};

/// "d_k = 64", "details on", "model: sampled".
std::string description_of(const FieldNow& now) {
    const auto valued = [&](const auto& value) { return fmt::format("{} = {}", now.text, value); };
    return std::visit(
        Overloaded{[&](bool on) { return now.text + (on ? " on" : " off"); },
                   [&](double value) { return valued(number(value)); },
                   [&](const std::string& text) { return valued(text); },
                   [&](const std::vector<double>& numbers) {
                       return fmt::format("{} {}", now.text, listed(numbers));
                   },
                   [&](Chosen chosen) { return now.text + ": " + now.names[chosen.n]; },
                   [&](const auto& integer) { return valued(integer); }},
        now.value);
}

std::optional<double> number_of(const FieldValue& value) {
    return std::visit(
        [](const auto& is) -> std::optional<double> {
            if constexpr (std::is_arithmetic_v<std::decay_t<decltype(is)>>)
                return static_cast<double>(is);
            else
                return std::nullopt;
        },
        value);
}

/// "": it lies within its range.
std::string range_fault(const FieldNow& now) {
    const std::optional<double> is = number_of(now.value);
    if (!is || (*is >= now.about.low && *is <= now.about.high)) return {};
    return fmt::format("{}: it must be {} to {}", description_of(now), now.about.low,
                       now.about.high);
}

/// What describe() says of a value that is read; "": nothing.
std::string complaint_of(const SlotType& type, void* value) {
    EachField check([](std::string_view, FieldValue&, const About&, Visitor::Names) {},
                    EachField::Reads::yes);
    type.describe(check, value);
    const bool begins = check.complaint.starts_with(": ");
    return begins ? check.complaint.substr(2) : check.complaint;
}

void put(const PersistedField& field, void* retained, const FieldValue& value) {
    EachField setter(
        [&](std::string_view name, FieldValue& now, const About&, Visitor::Names names) {
            if (name != field.name) return;
            const auto* const chosen = std::get_if<Chosen>(&value);
            ATTN_CHECK(now.index() == value.index() && (!chosen || chosen->n < names.size()),
                       "an action has a value of its field's type");
            now = value;
        });
    field.type->describe(setter, retained);
}

}  // namespace

FieldNow field_now(const PersistedField& field, const void* retained) {
    std::optional<FieldNow> found;
    EachField finder(
        [&](std::string_view name, FieldValue& value, const About& about, Visitor::Names names) {
            if (name != field.name || found) return;
            found = FieldNow{about, value, std::string(about.text.empty() ? name : about.text), {}};
            for (const std::string_view each : names) found->names.push_back(spaced(each));
        });
    field.type->describe(finder, field.type->copy(retained).get());
    ATTN_CHECK(found.has_value(), "an action sets a described field");
    return *std::move(found);
}

Result<std::string> put_field(const AppState& state, const PersistedField& field, void* retained,
                              const FieldValue& value) {
    put(field, retained, value);
    if (auto valid = field.prepare(state, retained, field.name); !valid)
        return tl::unexpected(valid.error());
    std::string fault = range_fault(field_now(field, retained));
    if (fault.empty()) fault = complaint_of(*field.type, retained);
    if (!fault.empty()) return bad_input(std::move(fault));
    // by now the description may have brought it to a value that there is
    return description_of(field_now(field, retained));
}

void set_field(AppState& state, const PersistedField& field, const FieldValue& value) {
    Slots next = field.undone ? state.history[state.now].controls : state.looks;
    const auto text = put_field(state, field, next.edit(*field.type), value);
    if (!text) return show_message(state, text.error());
    if (field.undone) return edit_controls(state, std::move(next), *text);
    state.looks = std::move(next);
}

void describe_field(Visitor& visit, const PersistedField& field, FieldValue& value) {
    const auto met = [&](std::string_view name, FieldValue&, const About&, Visitor::Names names) {
        if (name != field.name) return;
        std::visit(
            [&]<class T>(T& is) {
                if constexpr (std::is_same_v<T, Chosen>) {
                    enum class Any : std::size_t {};
                    Any any{is.n};
                    visit(field.key, any, names);
                    is.n = static_cast<std::size_t>(any);
                } else {
                    visit(field.key, is);
                }
            },
            value);
    };
    EachField finder(met);
    field.type->describe(finder, field.type->copy(nullptr).get());
}

}  // namespace attn::view
