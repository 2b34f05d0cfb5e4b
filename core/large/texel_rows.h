#pragma once

#include <algorithm>
#include <memory>
#include <span>

#include "core/large/weight_rows.h"
#include "core/rounding.h"

namespace attn::large {

/// As Texels::allowed holds a count: from 2³² pairs on, which a texel of 65,536 × 65,536 has, the largest there is.
constexpr std::uint32_t pair_count(Index pairs) {
    constexpr Index kMost = 0xFFFF'FFFF;
    return static_cast<std::uint32_t>(pairs < kMost ? pairs : kMost);
}

/// One row of texels across the whole matrix, shared by the tiles that it passes through.
using TexelRow = std::shared_ptr<const Texels>;

/// A row of some texels, whose texels pool `height` rows of cells.
struct RowPart {
    const Texels* texels = nullptr;
    Index row = 0;
    Index height = 0;
};

/// Texels along an axis: texel t covers cells t · side …, the last one clipped at `cells`.
struct TexelAxis {
    Index side = 1;
    Index cells = 0;

    Index texels() const { return divide_up(cells, side); }
    Index extent(Index texel) const { return std::min(side, cells - texel * side); }
};

/// One row that pools all of `parts`, and each `joined` neighbouring texels of `keys`:
/// the mean weighted by cells, the largest maximum, the log-mean weighted by allowed pairs.
/// A NaN in a mean makes NaN of all three. Shape [1, ceil(keys.texels() / joined)].
Texels join_rows(std::span<const RowPart> parts, const TexelAxis& keys, Index joined);

/// Texels `first` … of every row, at most `count` of them, below each other. Rows pool
/// `queries.extent` rows of cells each, from texel row `first_row` on.
struct SliceOf {
    TexelAxis queries, keys;
    Index first_row = 0;
    Index first = 0;
    Index count = 0;
};
Texels slice_rows(std::span<const TexelRow> rows, const SliceOf& slice);

std::size_t bytes_of(const Texels& texels);

}  // namespace attn::large
