#include "app/common/draw/field_controls.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/field_widgets.h"

namespace attn::ui {
namespace {

constexpr double kLongRange = 16384.0;  // from here on a slider
constexpr float kSlider = 300.0F;       // design units

/// The first control of a window stands where it begins.
void place(const Frame& frame, float width) {
    const ImVec2 at = ImGui::GetCursorPos();
    const ImVec2 first = ImGui::GetCursorStartPos();
    if (at.x != first.x || at.y != first.y) flow(frame, width);
}

/// One control: `id` is the field's name.
struct Control {
    const view::FieldNow& now;
    const std::string& id;
    const Tip& tip;
    const ControlWords& words;
    const Frame& frame;
    view::Actions& out;

    std::optional<view::FieldValue> operator()(bool on) const {
        place(frame, toggle_width(frame, now.words));
        return toggle(frame, id.c_str(), now.words, on, tip);
    }
    std::optional<view::FieldValue> operator()(Index value) const {
        const auto low = static_cast<Index>(now.about.low);
        const auto high = static_cast<Index>(now.about.high);
        if (now.about.high > kLongRange) return slider(value, low, high);
        const float width = number_width(frame, now.words, high);
        place(frame, width);
        return number_field(frame, id.c_str(), now.words.c_str(), value, low, high, width, tip,
                            out);
    }
    std::optional<view::FieldValue> operator()(std::uint64_t seed) const {
        const float width = seed_width(frame, seed);
        place(frame, width);
        return seed_field(frame, id.c_str(), seed, width, tip, out);
    }
    std::optional<view::FieldValue> operator()(view::Chosen chosen) const {
        const auto at = static_cast<int>(chosen.n);
        std::vector<std::string> names = now.names;
        if (!words.choices.empty()) names.assign(words.choices.begin(), words.choices.end());
        const bool opens = words.width > 0.0F;
        float width = frame.px(words.width);
        if (!opens)
            for (const std::string& name : names) width += button_width(frame, name);
        place(frame, width);
        const auto n = opens
                           ? combo(frame, id.c_str(), {names, at, names[chosen.n]}, width, tip, out)
                           : choice(frame, id.c_str(), names, at, tip);
        if (!n) return std::nullopt;
        return view::Chosen{static_cast<std::size_t>(*n)};
    }
    template <class Other>
    std::optional<view::FieldValue> operator()(const Other&) const {
        ATTN_CHECK(false, "no control sets a field of this type");
        return std::nullopt;
    }

    std::optional<view::FieldValue> slider(Index value, Index low, Index high) const {
        const SliderWords shown{now.words, std::to_string(value), std::to_string(high)};
        const float room = ImGui::GetWindowSize().x * 0.3F;
        const float width = within(room, slider_width(frame, shown), frame.px(kSlider));
        place(frame, width);
        return log_slider(frame, id.c_str(), shown, value, low, high, width, tip, out);
    }
};

/// The first line of the description's tip, then the range and what else there is to say.
Tip tip_of(const view::FieldNow& now, const ControlWords& words) {
    const std::string_view tip = now.about.tip;
    const std::size_t end = std::min(tip.find('\n'), tip.size());
    Tip shown{std::string(tip.substr(0, end)), {}};
    if (std::holds_alternative<Index>(now.value))
        shown.words =
            fmt::format("{} to {}. Double-click to type. ", now.about.low, now.about.high);
    if (end < tip.size()) shown.words += tip.substr(end + 1);
    shown.words += words.more;
    return shown;
}

// ---- all fields one after the other

using view::About;

// Design units.
constexpr float kFieldWidgetsSlider = 220.0F;

std::string words_of(const About& about) { return std::string(about.words); }
std::string id_of(const About& about) { return "##" + words_of(about); }
Tip tip_of(const About& about) { return {words_of(about), std::string(about.tip)}; }

}  // namespace

std::optional<view::FieldValue> draw_field(const view::KeptField& field, const void* kept,
                                           const ControlWords& words, const Frame& frame,
                                           view::Actions& out) {
    const view::FieldNow now = view::field_now(field, kept);
    const Tip tip = tip_of(now, words);
    const std::string id =
        (std::holds_alternative<view::Chosen>(now.value) && words.width <= 0.0F ? "" : "##") +
        std::string(field.name);
    return std::visit(Control{now, id, tip, words, frame, out}, now.value);
}

void FieldWidgets::flag(std::string_view, bool& value, const About& about) {
    flow(frame_, toggle_width(frame_, words_of(about)));
    const auto set = toggle(frame_, id_of(about).c_str(), words_of(about), value, tip_of(about));
    value = set.value_or(value);
}

void FieldWidgets::number(std::string_view, Index& value, const About& about) {
    const auto high = static_cast<Index>(about.high);
    const std::string words = words_of(about);
    const float width = number_width(frame_, words, high);
    flow(frame_, width);
    const auto set = number_field(frame_, id_of(about).c_str(), words.c_str(), value,
                                  static_cast<Index>(about.low), high, width, tip_of(about), out_);
    value = set.value_or(value);
}

void FieldWidgets::number(std::string_view, std::uint64_t& value, const About& about) {
    const float width = seed_width(frame_, value);
    flow(frame_, width);
    const auto set = seed_field(frame_, id_of(about).c_str(), value, width, tip_of(about), out_);
    value = set.value_or(value);
}

void FieldWidgets::number(std::string_view, double& value, const About& about) {
    const auto text = [](double of) { return std::to_string(std::llround(of)); };
    const SliderWords words{words_of(about), text(value), text(about.high)};
    const float width = std::max(frame_.px(kFieldWidgetsSlider), slider_width(frame_, words));
    flow(frame_, width);
    const auto set = real_slider(frame_, id_of(about).c_str(), words, value, about.low, about.high,
                                 width, tip_of(about), out_);
    value = set.value_or(value);
}

void FieldWidgets::choice(std::string_view, std::size_t& n, Names names, const About& about) {
    const std::vector<std::string> words(names.begin(), names.end());
    float width = 0.0F;
    for (const std::string& each : words) width += button_width(frame_, each);
    flow(frame_, width);
    const auto chosen =
        ui::choice(frame_, id_of(about).c_str(), words, static_cast<int>(n), tip_of(about));
    if (chosen) n = static_cast<std::size_t>(*chosen);
}

}  // namespace attn::ui
