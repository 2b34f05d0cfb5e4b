#pragma once

#include <compare>
#include <cstddef>
#include <memory>

#include "core/large/map_choices.h"
#include "core/large/weight_rows.h"

namespace attn {
struct Dimensions;
}  // namespace attn

namespace attn::large {

/// Texels on a side of a tile.
inline constexpr Index kTileTexels = 256;

/// A square of the matrix at one zoom: texel (r, c) pools the cells
/// [row · 256 + r, …) · 2^level, like the tiles of a street map.
struct TileId {
    int level = 0;
    Index row = 0;
    Index column = 0;
    auto operator<=>(const TileId&) const = default;

    Index side() const { return Index{1} << level; }                // cells of a texel
    Index first_row() const { return row * kTileTexels * side(); }  // first cell
    Index first_column() const { return column * kTileTexels * side(); }
};

/// Where the numbers of a tile come from; every picture of one says so.
enum class TileOrigin : std::uint8_t {
    sampled,  // some rows of each texel: see Preview
    mixed,    // some texel rows exact, the others sampled
    exact,
};

struct Tile {
    TileId id;
    Texels texels;  // fewer than 256 rows or columns at the matrix's edge
    TileOrigin origin = TileOrigin::exact;
    std::uint64_t version = 0;  // differs between two tiles of one id with different numbers

    /// The pooled weight of a texel; NaN where `masked`.
    float value(Pooling pooling, Index row, Index column) const;
    std::size_t bytes() const;
};

/// Levels from single cells to the whole matrix in one tile.
int level_count(const Dimensions& size);

}  // namespace attn::large
