#pragma once

#include <vector>

#include "app/view/common/grid.h"
#include "app/view/heads/compute.h"
#include "app/view/state.h"

namespace attn::view {

/// What stands large: the weights of the head shown; with two pinned A, B and, where their sizes are the same, A − B
/// with KL(A‖B) of each row.
std::vector<GridView> heads_grids(const AppState& state);
/// "∞" where B is 0 at a key where A is not; "–" of a row without weights.
std::string divergence_text(MatrixView<const float> a, MatrixView<const float> b, Index row);

}  // namespace attn::view
