#pragma once

#include <imgui.h>

#include <span>
#include <vector>

#include "app/common/draw/grid.h"

namespace attn::ui {

/// Where matrices of one cell size stand beside and under each other within low … high: in as many columns as give the
/// largest cells.
std::vector<GridPlace> place_grids(std::span<const view::GridView> grids, ImVec2 low, ImVec2 high,
                                   const Frame& frame);

}  // namespace attn::ui
