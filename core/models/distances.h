#pragma once

#include "core/tensor.h"

namespace attn {

/// The row of T5's table for a key that stands `distance` = j − i from its query. Half of the rows are for distances that
/// have one of their own, half for ever longer ones, up to `farthest`, from which on all have the last. Where keys may
/// come after the query these are the other half of the rows. In float32, as its own code has it; Raffel et al. 2020, §2.1.
Index distance_bucket(Index distance, bool both_sides, Index buckets, Index farthest);

/// Param::b_score of queries first … first + tq − 1 and keys 0 … tk − 1; `table` [1, 1, buckets, H].
Tensor distance_scores(const Tensor& table, bool both_sides, Index farthest, Index first, Index tq,
                       Index tk);

}  // namespace attn
