#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid_parts.h"
#include "app/common/format.h"
#include "app/workspaces/step/draw/layout.h"

namespace attn::ui {
namespace {

using view::GridView;
using view::Slot;

constexpr std::ptrdiff_t kMostSources = 128;
constexpr float kMeeting = 0.75F;      // of the time: the sources have met
constexpr float kSmallDigits = 11.0F;  // design units

struct Rect {
    ImVec2 low, high;
};

/// Slow, fast, slow; 0 … 1.
float eased(float t) { return t * t * (3.0F - 2.0F * t); }

Rect between(const Rect& a, const Rect& b, float t) {
    const auto mix = [t](ImVec2 x, ImVec2 y) {
        return ImVec2{x.x + (y.x - x.x) * t, x.y + (y.y - x.y) * t};
    };
    return {mix(a.low, b.low), mix(a.high, b.high)};
}

Rect cell_rect(const GridPlace& place, ImVec2 origin, Index row, Index column) {
    const ImVec2 low{origin.x + place.origin.x + place.cell.x * static_cast<float>(column),
                     origin.y + place.origin.y + place.cell.y * static_cast<float>(row)};
    return {low, {low.x + place.cell.x - 1, low.y + place.cell.y - 1}};
}

void draw_moving(const Frame& frame, const view::CellView& cell, const Rect& at) {
    frame.painter.rect(at.low, at.high, cell.fill, frame.px(2));
    const view::Font font{view::Face::mono, frame.px(kSmallDigits)};
    if (cell.look != view::CellLook::number || font.px > at.high.y - at.low.y) return;
    const std::string text = view::cell_number(cell.value, 2);
    if (frame.text_width(font, text) > at.high.x - at.low.x) return;
    draw_text_in(frame, font, at.low, at.high, Align::center, cell.ink, text);
}

/// The lit cells of one matrix on their way to `target`.
void draw_sources(const GridView& grid, const GridPlace& place, ImVec2 origin, const Rect& target,
                  float t, const Frame& frame) {
    if (grid.as_bars || std::ranges::count(grid.lit, true) > kMostSources) return;
    for (std::size_t n = 0; n < grid.lit.size(); ++n) {
        if (!grid.lit[n]) continue;
        const auto cell = static_cast<Index>(n);
        const Rect from = cell_rect(place, origin, cell / grid.columns, cell % grid.columns);
        draw_moving(frame, grid.cells[n], between(from, target, t));
    }
}

}  // namespace

void draw_story(const view::StepView& view, const CanvasLayout& layout, ImVec2 origin,
                const Frame& frame) {
    if (view.fade >= kMeeting || !view.result.selected) return;
    const float t = eased(static_cast<float>(view.fade) / kMeeting);
    const Rect target =
        cell_rect(layout.result, origin, view.result.selected->first, view.result.selected->second);
    for (std::size_t n = 0; n < view.operands.size(); ++n)
        draw_sources(view.operands[n], layout.operands[n], origin, target, t, frame);
}

}  // namespace attn::ui
