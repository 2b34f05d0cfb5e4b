#include "core/large/coarse_tile.h"

#include <algorithm>

namespace attn::large {

Tile coarse_tile(const TileId& id, const Pyramid& pyramid, const Preview& preview) {
    const TexelAxis queries = pyramid.queries(id.level);
    const Index first = id.row * kTileTexels;
    const Index end = std::min(first + kTileTexels, queries.texels());
    std::vector<TexelRow> rows;
    Index exact = 0;
    for (Index r = first; r < end; ++r) {
        TexelRow row = pyramid.row(id.level, r);
        exact += row ? 1 : 0;
        rows.push_back(row ? std::move(row) : preview.row(id.level, r));
    }
    Tile tile;
    tile.id = id;
    tile.texels = slice_rows(
        rows, {queries, pyramid.keys(id.level), first, id.column * kTileTexels, kTileTexels});
    tile.origin = exact == end - first ? TileOrigin::exact
                  : exact == 0         ? TileOrigin::sampled
                                       : TileOrigin::mixed;
    return tile;
}

}  // namespace attn::large
