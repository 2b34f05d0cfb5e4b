#pragma once

#include "app/common/draw/grid.h"

namespace attn::ui {

/// Whether the cells are so small that they are read through a lens.
bool needs_lens(const view::GridView& grid, const GridPlace& place, const Frame& frame);

/// Where the pointer is on a grid that needs a lens: the cells around it, readable, with their words and their
/// numbers, inside `low` … `high` and clear of the pointed row and column as far as there is room.
void draw_lens(const view::GridView& grid, const GridPlace& place, const Frame& frame, ImVec2 low,
               ImVec2 high);

}  // namespace attn::ui
