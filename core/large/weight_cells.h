#pragma once

#include "core/large/cell.h"
#include "core/large/weight_rows.h"
#include "core/masks.h"

namespace attn::large {

/// Some queries, whose logsumexp is known, against some keys.
struct ListedCells {
    std::span<const Index> rows;
    std::span<const float> logsumexp;  // natural
    KeyRange keys;
    Index pool_rows = 1;
    Index pool_keys = 1;
};

/// As pool_cells() of weight_rows.h, for any rows and texels of any two sides.
bool pool_listed(const WeightSource& source, Head head, const ListedCells& cells,
                 const std::stop_token& stop, Texels& out);

/// Σ B of each texel's pairs that may attend, in `mean` and in single precision, and how many in `allowed`; nothing else
/// is filled. For scores under a soft cap, whose sum is no product of sums.
bool sum_scores(const WeightSource& source, Head head, KeyRange rows, KeyRange keys, Index side,
                const std::stop_token& stop, Texels& out);

}  // namespace attn::large
