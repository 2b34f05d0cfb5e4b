#pragma once

#include <vector>

#include "core/large/tiles.h"
#include "core/large/weight_map.h"
#include "core/masks.h"

namespace attn::large {

/// More tiles than any screen shows: a view that asks for more is answered with coarser ones.
inline constexpr Index kMostVisibleTiles = 256;

/// Cells that a tile covers, clipped at the matrix's edge.
struct CellBox {
    KeyRange rows;
    KeyRange columns;
};
CellBox cells_of(const TileId& id, const Dimensions& size);

/// Cells of the matrix that a view shows, those cut by its border too. Empty ranges: none.
CellBox cells_of(const MapView& view, const Dimensions& size);

/// The level that answers a view: the wanted one within the levels there are, or the finest coarser one
/// that needs no more than kMostVisibleTiles.
int level_of(const MapView& view, const Dimensions& size);

/// Tiles of `level` that a view touches, the nearest to its middle first.
std::vector<TileId> tiles_in_view(const MapView& view, int level, const Dimensions& size);

/// All tiles of a level.
std::vector<TileId> tiles_of_level(int level, const Dimensions& size);

TileId parent_of(const TileId& id);

}  // namespace attn::large
