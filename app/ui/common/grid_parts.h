#pragma once

#include "app/ui/common/draw.h"
#include "app/ui/common/grid.h"

namespace attn::ui {

// The layers of a grid, each drawn over the one before.

struct GridCanvas {
    const view::GridView& grid;
    const GridPlace& place;
    const Frame& frame;

    ImVec2 corner(Index row, Index column) const {
        return {place.origin.x + static_cast<float>(column) * place.cell.x,
                place.origin.y + static_cast<float>(row) * place.cell.y};
    }
    ImVec2 end() const { return corner(grid.rows, grid.columns); }
};

void draw_cells(const GridCanvas& canvas, const Fade& fade);  // fills, numbers, special looks
void draw_marks(const GridCanvas& canvas);                    // lit sources, the selected cell
void draw_labels(const GridCanvas& canvas);                   // title, shape, tokens
void draw_color_bar(const GridCanvas& canvas, view::ThemeName name);
void draw_sides(const GridCanvas& canvas);  // row max, Σ exp, row sums

/// Column labels are turned when one of them is wider than its column; of numbers some are left out instead.
bool has_turned_labels(const view::GridView& grid, const Frame& frame, float cell_width);
/// The words along the axes: larger beside roomy cells.
Font label_font(const Frame& frame, float cell_width);

// Characters; longer labels lose their middle.
inline constexpr std::size_t kLongestRowLabel = 14;
inline constexpr std::size_t kLongestColumnLabel = 24;

// Design units.
inline constexpr float kTitleHeight = 24.0F;
inline constexpr float kLabelHeight = 20.0F;
inline constexpr float kLabelGap = 8.0F;
inline constexpr float kRoomyCell = 56.0F;
inline constexpr float kTurnDegrees = -45.0F;
inline constexpr float kBarHeight = 6.0F;
inline constexpr float kBarGap = 8.0F;

}  // namespace attn::ui
