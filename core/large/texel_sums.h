#pragma once

#include <span>

#include "core/large/cell.h"

namespace attn::large {

struct Texels;
struct WeightSource;

// A grid of texels holds sums while it is made: Σ a in `mean`, Σ log2 a in `log_mean`.

/// A grid of sums of nothing.
void start_texels(Index rows, Index columns, bool masked, Texels& out);

/// How many cells a grid covers, and how many of them a texel pools.
struct TexelSides {
    Index rows = 0;
    Index columns = 0;
    Index row_side = 1;
    Index column_side = 1;
};

/// Sums become means. A NaN in a texel makes NaN of all its numbers; 2^(B − L) that rounding left above 1
/// becomes 1.
void finish_texels(const TexelSides& sides, Texels& out);

/// Queries that the mask left without a key weigh NaN everywhere under EmptyRows::nan.
/// `logsumexp` of those rows, each of which belongs to texel row n / row_side.
void spread_empty_rows(const WeightSource& source, Head head, std::span<const Index> rows,
                       std::span<const float> logsumexp, Index row_side, Texels& out);

}  // namespace attn::large
