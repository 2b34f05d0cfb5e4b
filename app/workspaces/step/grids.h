#pragma once

#include <span>

#include "app/common/grid.h"
#include "app/common/sheet.h"
#include "core/forward.h"

namespace attn::view {

// The grids of the Step workspace.

/// The grid of one stage or parameter with its own colours, labels and title.
GridView stage_grid(const AppState& state, Stage stage, bool transposed = false);
GridView param_grid(const AppState& state, Param param);
/// Allowed (1) or forbidden (0), the second operand of the masked stage.
GridView mask_grid(const AppState& state);
/// Heads side by side, what W_O multiplies.
GridView joined_grid(const AppState& state);
/// Word vectors and positions, when X is exactly their sum; empty when numbers were given.
std::vector<GridView> embedding_grids(const AppState& state, Stage stage);

/// 1 where a pair is forbidden, from the masked stage on; empty where the stage hides none.
IsMasked hidden_pairs(const Document& document, Stage stage, Index batch, Index head);
/// The largest |score| of that head, which its scaled, biased and masked scores are coloured by too: so they pale as they
/// shrink. 0 of other stages.
double score_reach(const Trace& trace, Stage stage, Index batch, Index head);
/// The same of gradients: of all that the mask stands behind, from the scores to what it masked.
IsMasked hidden_gradients(const Document& document, Stage stage, Index batch, Index head);
/// Whether it is a stage whose rows are of that axis.
bool has_rows_of(const OperandId& id, Axis axis);
/// Whether its rows are queries and its columns keys.
bool is_pair(const OperandId& id);
/// Of the largest number; NaN is smaller than all.
Index largest_entry(std::span<const float> values);
/// The sheet with these numbers in its place, row after row, as a grid.
GridView grid_of(const AppState& state, Sheet sheet, const std::vector<float>& values,
                 const GridStyle& style = {});
/// "head 3 (0–11)" of a stage that has a head axis, where there are several heads; else "".
std::string shown_head_text(const AppState& state, Stage stage);
/// Whether every row is.
bool are_embeddings(const AppState& state, Stage stage);

}  // namespace attn::view
