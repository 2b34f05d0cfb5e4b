#include "app/workspaces/saturation/draw/bars.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"

namespace attn::ui {
namespace {

using view::BarView;
using Bars = std::vector<BarView>;

// Design units.
constexpr float kWidestBar = 56.0F;
constexpr float kAxisWidth = 40.0F;

/// Where the bars stand: the area between 0 and 100 %, cut into a slot for each key.
struct Slots {
    ImVec2 low, high;
    float width = 0.0F;

    float left(std::size_t j) const { return low.x + width * static_cast<float>(j); }
    float y(double value) const {
        return high.y - (high.y - low.y) * static_cast<float>(within(value, 0.0, 1.0));
    }
};

float widest(const Frame& frame, const Bars& bars, const Font& font, std::string BarView::*text) {
    float width = 0.0F;
    for (const BarView& bar : bars) width = std::max(width, frame.text_width(font, bar.*text));
    return width;
}

/// The longest form of the numbers that fits above the bars; nullptr when none does.
std::string BarView::*number_form(const Frame& frame, const Bars& bars, float room) {
    for (const auto form : {&BarView::text, &BarView::bare})
        if (widest(frame, bars, frame.fonts.digits_small, form) <= room) return form;
    return nullptr;
}

void draw_axis(const Slots& slots, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    for (const double share : {0.0, 0.5, 1.0}) {
        const float y = std::round(slots.y(share));
        frame.painter.line({slots.low.x, y}, {slots.high.x, y}, frame.theme.line, frame.px(1));
        const char* label = share == 0.0 ? "0" : share == 0.5 ? "50 %" : "100 %";
        draw_text_in(frame, font, {slots.low.x - frame.px(kAxisWidth + 8), y - font.px},
                     {slots.low.x - frame.px(8), y + font.px}, Align::right, frame.theme.muted,
                     label);
    }
}

void draw_bar(const BarView& bar, std::size_t j, const Slots& slots, view::Color color,
              const Frame& frame) {
    if (std::isnan(bar.value)) return;
    const float gap = slots.width > frame.px(8) ? frame.px(4) : slots.width * 0.2F;
    const float width = std::min(slots.width - gap, frame.px(kWidestBar));
    const float x = slots.left(j) + (slots.width - width) / 2;
    const float top = std::min(slots.y(bar.value), slots.high.y - frame.px(1));
    frame.painter.rect({x, top}, {x + width, slots.high.y}, color);
}

/// On a plate, so that no line of the axis strikes it through.
void draw_number(const std::string& text, const BarView& bar, std::size_t j, const Slots& slots,
                 const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const float foot = (std::isnan(bar.value) ? slots.high.y : slots.y(bar.value)) - frame.px(2);
    const float top = foot - font.px - frame.px(2);
    const float half = frame.text_width(font, text) / 2 + frame.px(2);
    const float middle =
        within(slots.left(j) + slots.width / 2, slots.low.x + half, slots.high.x - half);
    frame.painter.rect({middle - half, top}, {middle + half, foot}, frame.theme.background);
    draw_text_in(frame, font, {middle - half, top}, {middle + half, foot}, Align::center,
                 frame.theme.text, text);
}

/// NaN is no largest one.
std::size_t largest(const Bars& bars) {
    std::size_t found = 0;
    for (std::size_t j = 1; j < bars.size(); ++j)
        if (bars[j].value > bars[found].value) found = j;
    return found;
}

void draw_labels(const Bars& bars, const Slots& slots, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    const float needed = widest(frame, bars, font, &BarView::label) + frame.px(6);
    const auto stride = static_cast<std::size_t>(std::max(1.0F, std::ceil(needed / slots.width)));
    for (std::size_t j = 0; j < bars.size(); j += stride)
        draw_text_in(frame, font, {slots.left(j), slots.high.y + frame.px(2)},
                     {slots.left(j) + slots.width, slots.high.y + font.px + frame.px(6)},
                     Align::center, frame.theme.key, bars[j].label);
}

/// The tooltip of the bar under the pointer; the area is an item of its own.
void explain(const Bars& bars, const Slots& slots, const Frame& frame) {
    ImGui::SetCursorScreenPos(slots.low);
    ImGui::InvisibleButton("bars", {slots.high.x - slots.low.x, slots.high.y - slots.low.y});
    focus_stop(frame);
    if (!ImGui::IsItemHovered()) return;
    const float at = (ImGui::GetMousePos().x - slots.low.x) / slots.width;
    const auto j = static_cast<std::size_t>(std::max(0.0F, at));
    if (j < bars.size()) tooltip(frame, "key " + bars[j].label, bars[j].tooltip);
}

}  // namespace

bool draw_bars(const Bars& bars, view::Color color, ImVec2 low, ImVec2 high, const Frame& frame) {
    if (bars.empty()) return false;
    const float line = frame.fonts.digits_small.px + frame.px(6);
    Slots slots{{low.x + frame.px(kAxisWidth + 8), low.y + line}, {high.x, high.y - line}, 0.0F};
    slots.width = (slots.high.x - slots.low.x) / static_cast<float>(bars.size());
    draw_axis(slots, frame);
    const auto form = number_form(frame, bars, slots.width - frame.px(2));
    for (std::size_t j = 0; j < bars.size(); ++j) {
        draw_bar(bars[j], j, slots, color, frame);
        if (form) draw_number(bars[j].*form, bars[j], j, slots, frame);
    }
    if (!form)
        draw_number(bars[largest(bars)].text, bars[largest(bars)], largest(bars), slots, frame);
    draw_labels(bars, slots, frame);
    explain(bars, slots, frame);
    return form != nullptr;
}

}  // namespace attn::ui
