#include <algorithm>
#include <cmath>

#include "app/ui/common/draw.h"
#include "app/ui/large/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kBarWidth = 320.0F;
constexpr float kBarHeight = 10.0F;
constexpr float kSwatch = 12.0F;

void draw_color_bar(const view::MapLegend& legend, const Area& bar, ImDrawList& list) {
    const std::size_t last = legend.colors.size() - 1;
    const auto x = [&](std::size_t n) {
        return std::round(bar.low.x +
                          bar.width() * static_cast<float>(n) / static_cast<float>(last));
    };
    for (std::size_t n = 0; n < last; ++n) {
        const ImU32 left = to_u32(legend.colors[n]);
        const ImU32 right = to_u32(legend.colors[n + 1]);
        list.AddRectFilledMultiColor({x(n), bar.low.y}, {x(n + 1), bar.high.y}, left, right, right,
                                     left);
    }
}

/// Labels below the bar, kept within its ends; one that would touch the one before is left out.
void draw_ticks(const view::MapLegend& legend, const Area& bar, const Frame& frame,
                ImDrawList& list) {
    const Font& font = frame.fonts.digits_small;
    float taken = bar.low.x - frame.px(100);
    for (const view::MapLegend::Tick& tick : legend.ticks) {
        const float x = std::round(bar.low.x + bar.width() * static_cast<float>(tick.at));
        const float width = text_size(font, tick.label).x;
        const float left =
            std::clamp(x - width / 2, bar.low.x, std::max(bar.low.x, bar.high.x - width));
        list.AddLine({x, bar.high.y}, {x, bar.high.y + frame.px(3)}, to_u32(frame.theme.muted),
                     frame.px(1));
        if (left < taken + frame.px(8)) continue;
        taken = left + width;
        draw_text(list, font, {left, bar.high.y + frame.px(5)}, to_u32(frame.theme.muted),
                  tick.label);
    }
}

/// The look of what the mask forbids, right of the bar.
void draw_masked(const view::MapLegend& legend, const Area& bar, float right, const Frame& frame,
                 ImDrawList& list) {
    const float side = frame.px(kSwatch);
    const float words = text_size(frame.fonts.small, legend.masked).x;
    const ImVec2 low{bar.high.x + frame.px(24), std::round((bar.low.y + bar.high.y - side) / 2)};
    if (legend.masked.empty() || low.x + side + frame.px(6) + words > right) return;
    const ImVec2 high{low.x + side, low.y + side};
    list.AddRectFilled(low, high, to_u32(legend.masked_color));
    list.AddRect(low, high, to_u32(frame.theme.muted), 0.0F, 0, 1.0F);
    draw_text_in(list, frame.fonts.small, {high.x + frame.px(6), low.y}, {right, high.y},
                 Align::left, to_u32(frame.theme.muted), legend.masked);
}

}  // namespace

void draw_map_legend(const LargeScene& scene, const Area& area) {
    const view::MapLegend& legend = scene.view.legend;
    if (legend.colors.size() < 2) return;
    const Frame& frame = scene.frame;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const Font& font = frame.fonts.small;
    const std::string title = fit_text(font, legend.title, area.width());
    draw_text(list, font, area.low, to_u32(frame.theme.text), title);
    const float note = area.low.x + text_size(font, title).x + frame.px(16);
    if (area.high.x - note > frame.px(40))
        draw_text(list, font, {note, area.low.y}, to_u32(frame.theme.muted),
                  fit_text(font, legend.note, area.high.x - note));
    const float top = std::round(area.low.y + font.px + frame.px(6));
    const Area bar{
        {area.low.x, top},
        {area.low.x + std::min(frame.px(kBarWidth), area.width()), top + frame.px(kBarHeight)}};
    draw_color_bar(legend, bar, list);
    draw_ticks(legend, bar, frame, list);
    draw_masked(legend, bar, area.high.x, frame, list);
    ImGui::SetCursorScreenPos(area.low);
    ImGui::InvisibleButton("legend", {area.width(), bar.high.y - area.low.y});
    tooltip(frame, legend.title, legend.note);
}

}  // namespace attn::ui
