#pragma once

#include <imgui.h>

#include <optional>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/common/grid.h"

namespace attn::ui {

/// Where one matrix stands, in pixels on screen: the cells alone.
struct GridPlace {
    ImVec2 origin;  // top left of cell (0, 0)
    ImVec2 cell;    // size of one cell
};

/// The room a matrix takes around its cells: row labels, title and column labels, side vectors,
/// colour bar. `width` is what title and colour bar need at least, cells included.
struct GridMargins {
    float left = 0.0F;
    float top = 0.0F;
    float right = 0.0F;
    float bottom = 0.0F;
    float width = 0.0F;
};
GridMargins grid_margins(const view::GridView& grid, const Frame& frame, float cell_width);
/// Room for the row labels alone.
float row_label_width(const view::GridView& grid, const Frame& frame, float cell_width);
/// Width of each side vector.
float side_width(const view::SideVector& side, const Frame& frame, float cell_width);
/// The narrowest cell that still shows its numbers, to one decimal.
float readable_cell_width(const view::GridView& grid, const Frame& frame);

/// What a grid cross-fades from; `previous` may be null. fade: 0 just left … 1 arrived.
struct Fade {
    const view::GridView* previous = nullptr;
    double fade = 1.0;
};

/// A matrix with its title, labels, cells, colour bar and side vectors. Appends SelectCell and
/// BeginCellEdit; returns the cell under the pointer.
std::optional<view::CellRef> draw_grid(const view::GridView& grid, const Fade& fade,
                                       const GridPlace& place, const Frame& frame,
                                       view::Actions& out);

}  // namespace attn::ui
