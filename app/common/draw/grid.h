#pragma once

#include <imgui.h>

#include <optional>

#include "app/common/cell.h"
#include "app/common/draw/frame.h"
#include "app/common/grid.h"

namespace attn::ui {

/// Where one matrix stands, in pixels on screen: the cells alone.
struct GridPlace {
    ImVec2 origin;  // top left of cell (0, 0)
    ImVec2 cell;    // size of one cell
    bool corner =
        false;  // title and colour bar stand left of the column labels, over the row labels
};

/// The room a matrix takes around its cells: row labels, title and column labels, side vectors,
/// colour bar. `width` is what title and colour bar need at least, cells included.
struct GridMargins {
    float left = 0.0F;
    float top = 0.0F;
    float right = 0.0F;
    float bottom = 0.0F;
    float width = 0.0F;
    float bar =
        0.0F;  // in the corner: how far left it begins; 0: it follows the title, on one line
};
GridMargins grid_margins(const GridView& grid, const Frame& frame, ImVec2 cell,
                         bool corner = false);
inline GridMargins grid_margins(const GridView& grid, const Frame& frame, float cell) {
    return grid_margins(grid, frame, ImVec2{cell, cell});
}
/// What the colours of a grid come from; numbers change at once. `previous` may be null. fade: 0 just left … 1 arrived.
struct Fade {
    const GridView* previous = nullptr;
    double fade = 1.0;
};

/// What is drawn around the cells.
struct Dress {
    bool labels = true;     // title, shape, the words along both axes
    bool color_bar = true;  // or the legend
    bool sides = true;
};

/// What a person does with a matrix in this frame.
struct GridResult {
    std::optional<CellRef> hovered = {};
    std::optional<CellRef> clicked = {};
    std::optional<CellRef> edited = {};  // double-clicked, which is clicked too
    std::optional<bool> by_row = {};     // what the switch of the colour bar is set to
};
/// The row and the column of a cell.
inline std::optional<large::Cell> place_of(const std::optional<CellRef>& cell) {
    return cell ? std::optional(large::Cell{cell->row, cell->column}) : std::nullopt;
}
/// A matrix with its title, labels, cells, colour bar and side vectors.
GridResult draw_grid(const GridView& grid, const Fade& fade, const GridPlace& place,
                     const Frame& frame, const Dress& dress = {});

/// "A[it, cat] = 0.5", "(masked)" where it is.
std::string cell_description(const GridView& grid, Index row, Index column);

/// Whether each cell of that size shows its number. Where not, the focused row and column do and the three largest
/// of each row, as far as one fits.
bool shows_numbers(const GridView& grid, const GridPlace& place, const Frame& frame);

/// The look of what is masked: lines x + y = n · step over a box, which go on from box to box.
void draw_hatch(Painter& painter, ImVec2 low, ImVec2 size, float step, Color color,
                float thickness);

/// Whether the cells are so small that they are read through a lens.
bool needs_lens(const GridView& grid, const GridPlace& place, const Frame& frame);

/// Where the pointer is on a grid that needs a lens: the cells around it, readable, with their words and their
/// numbers, inside `low` … `high` and clear of the pointed row and column as far as there is room.
void draw_lens(const GridView& grid, const GridPlace& place, const Frame& frame, ImVec2 low,
               ImVec2 high);

}  // namespace attn::ui
