#include "app/common/draw/field_widgets.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/common/draw/widgets.h"

namespace attn::ui {
namespace {

using view::About;

// Design units.
constexpr float kFieldWidgetsSlider = 220.0F;

std::string words_of(const About& about) { return std::string(about.words); }
std::string id_of(const About& about) { return "##" + words_of(about); }
Tip tip_of(const About& about) { return {words_of(about), std::string(about.tip)}; }

}  // namespace

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
