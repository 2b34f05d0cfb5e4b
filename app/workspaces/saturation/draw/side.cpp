#include "app/workspaces/saturation/draw/side.h"

#include <algorithm>
#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"
#include "app/workspaces/saturation/draw/bars.h"

namespace attn::ui {
namespace {

using view::SaturationSideView;

// Design units.
constexpr float kHeading = 22.0F;
constexpr float kNote = 17.0F;
constexpr float kLargestCell = 64.0F;

void draw_heading(const SaturationSideView& side, ImVec2 low, ImVec2 high, const Frame& frame) {
    const Font& font = frame.fonts.strong;
    const ImVec2 foot{high.x, low.y + frame.px(kHeading)};
    draw_text_in(frame, font, low, foot, Align::left, frame.theme.role(side.role), side.title);
    const float after = low.x + frame.text_width(font, side.title) + frame.px(10);
    if (frame.text_width(frame.fonts.small, side.formula) <= high.x - after)
        draw_text_in(frame, frame.fonts.small, {after, low.y}, foot, Align::left, frame.theme.muted,
                     side.formula);
}

float cell_in(const view::GridView& grid, ImVec2 room, const Frame& frame) {
    float cell = room.x / static_cast<float>(grid.columns);
    for (int pass = 0; pass < 2; ++pass) {  // the margins depend a little on the cell
        const GridMargins margins = grid_margins(grid, frame, cell);
        cell = std::min((room.x - margins.left - margins.right) / static_cast<float>(grid.columns),
                        (room.y - margins.top - margins.bottom) / static_cast<float>(grid.rows));
        cell = within(cell, frame.px(0.25F), frame.px(kLargestCell));
    }
    return cell;
}

}  // namespace

void draw_side_bars(const SaturationSideView& side, ImVec2 low, ImVec2 high, const Frame& frame) {
    ImGui::PushID(side.title.c_str());
    draw_heading(side, low, high, frame);
    const float note = frame.px(kNote);
    const ImVec2 foot{high.x, high.y - 2 * note};
    const bool numbered = draw_bars(side.bars, frame.theme.role(side.role),
                                    {low.x, low.y + frame.px(kHeading)}, foot, frame);
    const auto line = [&](float top, const std::string& text) {
        draw_text_in(frame, frame.fonts.small, {low.x, top}, {high.x, top + note}, Align::left,
                     frame.theme.muted, fit_text(frame, frame.fonts.small, text, high.x - low.x));
    };
    line(foot.y, side.note);
    if (numbered) line(foot.y + note, side.rounding_note);
    ImGui::PopID();
}

float jacobian_height(const SaturationSideView& side, float width, const Frame& frame) {
    const view::GridView& grid = side.jacobian;
    const float cell = cell_in(grid, {width, 1e6F}, frame);
    const GridMargins margins = grid_margins(grid, frame, cell);
    return cell * static_cast<float>(grid.rows) + margins.top + margins.bottom;
}

void draw_side_jacobian(const SaturationSideView& side, ImVec2 low, ImVec2 high,
                        const Frame& frame) {
    const view::GridView& grid = side.jacobian;
    const float cell = cell_in(grid, {high.x - low.x, high.y - low.y}, frame);
    const GridMargins margins = grid_margins(grid, frame, cell);
    const GridPlace place{{low.x + margins.left, low.y + margins.top}, {cell, cell}};
    ImGui::PushID(side.title.c_str());
    draw_grid(grid, {}, place, frame);
    ImGui::PopID();
}

}  // namespace attn::ui
