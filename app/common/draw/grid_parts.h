#pragma once

#include "app/common/draw/draw.h"
#include "app/common/draw/grid.h"

namespace attn::ui {

// The layers of a grid, each drawn over the one before.

struct GridCanvas {
    const GridView& grid;
    const GridPlace& place;
    const Frame& frame;

    ImVec2 corner(Index row, Index column) const {
        return {place.origin.x + static_cast<float>(column) * place.cell.x,
                place.origin.y + static_cast<float>(row) * place.cell.y};
    }
    ImVec2 end() const { return corner(grid.rows, grid.columns); }
};

std::optional<large::Cell> cell_under_pointer(const GridView& grid, const GridPlace& place);

void draw_cells(const GridCanvas& canvas, const Fade& fade);  // fills, numbers, special looks
void draw_marks(const GridCanvas& canvas);                    // lit sources, the selected cell
void draw_labels(const GridCanvas& canvas);                   // title, shape, tokens
/// The scale of its colours, or its legend, from `low` on. Returns what the switch for colours by row was set to.
std::optional<bool> draw_color_bar(const GridCanvas& canvas, ImVec2 low, float width);
/// The same at its place: beneath the cells at least as wide as its words, or in the corner.
std::optional<bool> draw_own_color_bar(const GridCanvas& canvas);
/// Row max, Σ exp, row sums: as many from the first as `room` holds, in pixels.
void draw_sides(const GridCanvas& canvas, float space);
/// The words of the rows end at `right`; those of the columns stand above `foot`.
void draw_row_labels(const GridCanvas& canvas, float right);
void draw_column_labels(const GridCanvas& canvas, float bottom);
float side_width(const SideVector& side, const Frame& frame, float cell_height);

// Design units.
inline constexpr float kLabelHeight = 20.0F;
inline constexpr float kBarHeight = 6.0F;
inline constexpr float kBarGap = 8.0F;

}  // namespace attn::ui
