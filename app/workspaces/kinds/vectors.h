#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/grid.h"

namespace attn::view {

/// A row of O, or of the output, perhaps with ℓ before it.
struct VectorRow {
    std::string label;
    std::vector<double> values;
    std::optional<double> sum = {};  // of all rows or of none
};
/// The rows above each other, a column for each column of V. No cell of it is one of the document's.
GridView vector_grid(const AppState& state, const std::vector<VectorRow>& rows, std::string title);

}  // namespace attn::view
