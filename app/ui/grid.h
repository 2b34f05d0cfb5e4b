#pragma once

#include <optional>

#include "app/ui/frame.h"
#include "app/ui/imgui_compat.h"
#include "app/view/actions.h"
#include "app/view/grid_view.h"

namespace attn::ui {

/// Where one matrix stands, in pixels on screen: the cells alone, without labels.
struct GridPlace {
    ImVec2 origin;  // top left of cell (0, 0)
    ImVec2 cell;    // size of one cell
    bool labels = true;
    bool title = true;
};

/// What the pointer is on and what was done to it.
struct GridInput {
    std::optional<view::CellRef> hovered;
};

/// A matrix with its title, labels, colour bar and side vectors. `previous` (may be null) is what it
/// cross-fades from at `fade` 0 … 1. Appends SelectCell and BeginCellEdit.
GridInput draw_grid(const view::GridView& grid, const view::GridView* previous, double fade,
                    const GridPlace& place, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
