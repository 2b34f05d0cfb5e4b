#pragma once

#include <imgui.h>

#include <span>
#include <vector>

#include "app/common/draw/grid.h"

namespace attn::ui {

/// What is done with one of several matrices.
struct GridSetResult : GridResult {
    std::size_t grid = 0;  // which of them
};
/// Where they stand: of one cell size, beside and under each other as gives the largest cells.
std::vector<GridPlace> place_grids(std::span<const GridView> grids, ImVec2 low, ImVec2 high,
                                   const Frame& frame);
/// All of them, of one cell size, beside and under each other within low … high, with their lens. `cursor`: a cell that is outlined in each of them.
GridSetResult draw_grid_set(std::span<const GridView> grids, ImVec2 low, ImVec2 high,
                            const Frame& frame, const std::optional<large::Cell>& cursor = {});

}  // namespace attn::ui
