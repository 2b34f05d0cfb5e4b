#include "app/common/draw/field_controls.h"

#include <imgui.h>

#include <fmt/format.h>

#include "app/common/draw/field_widgets.h"
#include "app/common/format.h"

namespace attn::ui {
namespace {

constexpr double kLongRange = 16384.0;                   // from here on a slider
constexpr double kWholeFrom = 1000.0;                    // from here on no digits after the point
constexpr float kSlider = 300.0F, kRealSlider = 220.0F;  // design units

/// One control: `id` is the field's name.
struct Control {
    const FieldNow& now;
    const std::string& id;
    const Tip& tip;
    const ControlText& text;
    const Frame& frame;
    Actions& out;
    const PlaceControl& place;

    std::optional<FieldValue> operator()(bool on) const {
        if (!place(toggle_width(frame, now.text))) return std::nullopt;
        return toggle(frame, id.c_str(), now.text, on, tip);
    }
    std::optional<FieldValue> operator()(Index value) const {
        const auto low = static_cast<Index>(now.about.low);
        const auto high = static_cast<Index>(now.about.high);
        if (now.about.high > kLongRange) return slider(value, low, high);
        const float width = number_width(frame, now.text, high);
        if (!place(width)) return std::nullopt;
        return number_field(frame, id.c_str(), now.text.c_str(), value, low, high, width, tip, out);
    }
    std::optional<FieldValue> operator()(std::uint64_t seed) const {
        const float width = seed_width(frame, seed);
        if (!place(width)) return std::nullopt;
        return seed_field(frame, id.c_str(), seed, width, tip, out);
    }
    std::optional<FieldValue> operator()(Chosen chosen) const {
        const auto at = static_cast<int>(chosen.n);
        std::vector<std::string> names = now.names;
        if (!text.choices.empty()) names.assign(text.choices.begin(), text.choices.end());
        const bool opens = text.width > 0.0F;
        const float width = opens ? frame.px(text.width) : choice_width(frame, names);
        if (!place(width)) return std::nullopt;
        const auto n = opens
                           ? combo(frame, id.c_str(), {names, at, names[chosen.n]}, width, tip, out)
                           : choice(frame, id.c_str(), names, at, tip);
        if (!n) return std::nullopt;
        return Chosen{static_cast<std::size_t>(*n)};
    }
    std::optional<FieldValue> operator()(double value) const {
        const auto number = [](double of) {
            return of < kWholeFrom ? view::significant(of, 3) : std::to_string(std::llround(of));
        };
        const std::string widest = now.about.high < kWholeFrom ? "0.000" : number(now.about.high);
        const SliderText shown{now.text, number(value), widest};
        const float width = std::max(frame.px(kRealSlider), slider_width(frame, shown));
        if (!place(width)) return std::nullopt;
        return real_slider(frame, id.c_str(), shown, value, now.about.low, now.about.high, width,
                           tip, out);
    }
    template <class Other>
    std::optional<FieldValue> operator()(const Other&) const {
        ATTN_CHECK(false, "no control sets a field of this type");
        return std::nullopt;
    }

    std::optional<FieldValue> slider(Index value, Index low, Index high) const {
        const SliderText shown{now.text, std::to_string(value), std::to_string(high)};
        const float space = ImGui::GetWindowSize().x * 0.3F;
        const float width = within(space, slider_width(frame, shown), frame.px(kSlider));
        if (!place(width)) return std::nullopt;
        return log_slider(frame, id.c_str(), shown, value, low, high, width, tip, out);
    }
};

/// The first line of the description's tip, then the range and what else there is to say.
Tip tip_of(const FieldNow& now, const ControlText& text) {
    const std::string_view tip = now.about.tip;
    const std::size_t end = std::min(tip.find('\n'), tip.size());
    Tip shown{std::string(tip.substr(0, end)), {}};
    if (std::holds_alternative<Index>(now.value))
        shown.text = fmt::format("{} to {}. Double-click to type. ", now.about.low, now.about.high);
    if (end < tip.size()) shown.text += tip.substr(end + 1);
    shown.text += text.more;
    return shown;
}

}  // namespace

std::optional<FieldValue> draw_field(const PersistedField& field, const void* retained,
                                     const ControlText& text, const Frame& frame, Actions& out,
                                     const PlaceControl& place) {
    const FieldNow now = view::field_now(field, retained);
    const Tip tip = tip_of(now, text);
    const std::string id =
        (std::holds_alternative<Chosen>(now.value) && text.width <= 0.0F ? "" : "##") +
        std::string(field.name);
    return std::visit(Control{now, id, tip, text, frame, out, place}, now.value);
}

template <class T>
void FieldWidgets::set(T& value, Names names, const About& about) {
    const FieldNow now{about, value, std::string(about.text), {names.begin(), names.end()}};
    const std::string id = "##" + now.text;
    const Tip tip{now.text, std::string(about.tip)};
    if (const auto to = Control{now, id, tip, {}, frame_, out_, place_}(value))
        value = std::get<T>(*to);
}

void FieldWidgets::leaf(std::string_view, Leaf value, const About& about) {
    std::visit(
        [&]<class T>(T* field) {
            if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, int>)
                set(*field, {}, about);
        },
        value);
}
void FieldWidgets::choice(std::string_view, std::size_t& n, Names names, const About& about) {
    Chosen chosen{n};
    set(chosen, names, about);
    n = chosen.n;
}

}  // namespace attn::ui
