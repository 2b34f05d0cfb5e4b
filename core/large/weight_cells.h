#pragma once

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

}  // namespace attn::large
