#pragma once

#include <vector>

#include "app/common/grid.h"
#include "app/workspaces/heads/compute.h"

namespace attn::view {

struct HeadColors;

/// What stands large: the head that is shown, or A and B where two are pinned.
std::vector<HeadPlace> large_heads(const AppState& state);
/// Why what is chosen is not defined for one of them; "": it is.
std::string undefined_text(const AppState& state, const std::vector<HeadPlace>& places);
/// As matrices; where there are two of one size with A − B too, and KL(A‖B) of each row of weights. Only where
/// undefined_text() is "".
std::vector<GridView> heads_grids(const AppState& state);
/// The same as maps, brought up to date where their sides are too long for cells.
void follow_head_maps(AppState& state);
/// The colours and the words of the colour bar of that range.
void color_grid(GridView& grid, const HeadColors& colors, ThemeName name);
/// "∞" where B is 0 at a key where A is not; "–" of a row without weights.
std::string divergence_text(MatrixView<const float> a, MatrixView<const float> b, Index row);

}  // namespace attn::view
