#pragma once

#include <optional>
#include <vector>

#include "core/matrix_view.h"

namespace attn {

/// A change of one column of W that moves one number of X W.
struct ColumnChange {
    std::vector<double> column;  // to be added
    bool alone = false;          // no other row of X W moves, but for rounding
};

/// The shortest δ with x_row·δ = by and x_j·δ = 0 for every other row j of X; where x_row lies in the span of the others,
/// so that no such change exists, the shortest with x_row·δ = by alone. nullopt: x_row is 0, or a number is not finite.
std::optional<ColumnChange> column_change(MatrixView<const float> x, Index row, double by);

}  // namespace attn
