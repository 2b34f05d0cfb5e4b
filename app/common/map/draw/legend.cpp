#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/map/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBarWidth = 320.0F;
constexpr float kBarHeight = 10.0F;
constexpr float kSwatch = 12.0F;

/// Labels below the bar, kept within its ends; one that would touch the one before is left out.
void draw_ticks(const view::MapLegend& legend, const Area& bar, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    float taken = bar.low.x - frame.px(100);
    for (const view::MapLegend::Tick& tick : legend.ticks) {
        const float x = std::round(bar.low.x + bar.width() * static_cast<float>(tick.at));
        const float width = frame.text_width(font, tick.label);
        const float left = within(x - width / 2, bar.low.x, bar.high.x - width);
        frame.painter.line({x, bar.high.y}, {x, bar.high.y + frame.px(3)}, frame.theme.muted,
                           frame.px(1));
        if (left < taken + frame.px(8)) continue;
        taken = left + width;
        frame.painter.text(font, {left, bar.high.y + frame.px(5)}, frame.theme.muted, tick.label);
    }
}

/// A look that the bar does not have, and its name; returns where the next one starts.
float draw_swatch(const std::string& name, view::Color color, const Area& place,
                  const Frame& frame) {
    if (name.empty()) return place.low.x;
    const float side = frame.px(kSwatch);
    const float left = place.low.x + side + frame.px(6);
    const std::string words = fit_text(frame, frame.fonts.small, name, place.high.x - left);
    const ImVec2 low{place.low.x, std::round((place.low.y + place.high.y - side) / 2)};
    if (words.empty() || left > place.high.x) return place.low.x;
    const ImVec2 high{low.x + side, low.y + side};
    frame.painter.rect(low, high, color);
    frame.painter.outline(low, high, frame.theme.muted, 1.0F);
    draw_text_in(frame, frame.fonts.small, {left, low.y}, {place.high.x, high.y}, Align::left,
                 frame.theme.muted, words);
    return left + frame.text_width(frame.fonts.small, words) + frame.px(16);
}

/// What is not finite first: it is what must not be missed.
void draw_swatches(const view::MapLegend& legend, const Area& bar, float right,
                   const Frame& frame) {
    Area place{{bar.high.x + frame.px(24), bar.low.y}, {right, bar.high.y}};
    place.low.x = draw_swatch(legend.nan, legend.nan_color, place, frame);
    place.low.x = draw_swatch(legend.infinite, legend.infinite_color, place, frame);
    draw_swatch(legend.masked, legend.masked_color, place, frame);
}

}  // namespace

void draw_map_legend(const MapScene& scene, const Area& area) {
    const view::MapLegend& legend = scene.view.legend;
    if (legend.colors.size() < 2) return;
    const Frame& frame = scene.frame;
    const Font& font = frame.fonts.small;
    const std::string title = fit_text(frame, font, legend.title, area.width());
    frame.painter.text(font, area.low, frame.theme.text, title);
    const float note = area.low.x + frame.text_width(font, title) + frame.px(16);
    if (note + frame.text_width(font, legend.note) <= area.high.x)
        frame.painter.text(font, {note, area.low.y}, frame.theme.muted, legend.note);
    const float top = std::round(area.low.y + font.px + frame.px(6));
    const Area bar{
        {area.low.x, top},
        {area.low.x + std::min(frame.px(kBarWidth), area.width()), top + frame.px(kBarHeight)}};
    frame.painter.gradient(bar.low, bar.high, legend.colors);
    draw_ticks(legend, bar, frame);
    draw_swatches(legend, bar, area.high.x, frame);
    ImGui::SetCursorScreenPos(area.low);
    ImGui::InvisibleButton("legend", {area.width(), bar.high.y - area.low.y});
    tooltip(frame, legend.title, legend.note);
}

}  // namespace attn::ui
