#pragma once

#include <optional>
#include <string>

#include "app/common/grid.h"
#include "app/workspaces/lookup/compute.h"
#include "app/workspaces/lookup/state.h"

namespace attn::view {

/// A matrix of the document's queries and keys, with the pair that is looked at.
struct LookupGrid {
    MatrixView<const float> values;
    ColorScale colors = ColorScale::diverging;
    Role role = Role::score;
    std::string title, tooltip;
};
GridView lookup_grid(const AppState& state, const LookupGrid& of);

/// The result for what is shown; nullptr: none yet. A fault is in it.
const SimilarityResult* shown_similarity(const AppState& state);

/// The column of the largest number of a row, the first on a tie; nullopt where one is NaN or there is none.
std::optional<Index> largest_in_row(MatrixView<const float> values, Index row);

}  // namespace attn::view
