#include "core/large/tile_grid.h"
#include "core/dimensions.h"
#include "core/rounding.h"

#include <algorithm>
#include <cmath>

namespace attn::large {
namespace {

/// Cells begin … end of an axis of `cells`, from a view's edges.
KeyRange clip(double first, double count, Index cells) {
    const auto bound = static_cast<double>(cells);
    const double begin = std::clamp(std::floor(first), 0.0, bound);
    const double end = std::clamp(std::ceil(first + count), begin, bound);
    return {static_cast<Index>(begin), static_cast<Index>(end)};
}

bool is_empty(const CellBox& box) {
    return box.rows.begin == box.rows.end || box.columns.begin == box.columns.end;
}

/// Tiles begin … end along an axis.
KeyRange tiles_along(KeyRange cells, Index tile_cells) {
    return {cells.begin / tile_cells, divide_up(cells.end, tile_cells)};
}

Index tiles_needed(const CellBox& box, int level) {
    const Index cells = kTileTexels << level;
    const KeyRange down = tiles_along(box.rows, cells);
    const KeyRange across = tiles_along(box.columns, cells);
    return (down.end - down.begin) * (across.end - across.begin);
}

std::vector<TileId> tiles_in_box(const CellBox& box, int level) {
    std::vector<TileId> tiles;
    if (is_empty(box)) return tiles;
    const Index cells = kTileTexels << level;
    const KeyRange down = tiles_along(box.rows, cells);
    const KeyRange across = tiles_along(box.columns, cells);
    for (Index row = down.begin; row < down.end; ++row)
        for (Index column = across.begin; column < across.end; ++column)
            tiles.push_back({level, row, column});
    return tiles;
}

}  // namespace

CellBox cells_of(const TileId& id, const Dimensions& size) {
    const Index cells = kTileTexels * id.side();
    return {{id.first_row(), std::min(id.first_row() + cells, size.tq)},
            {id.first_column(), std::min(id.first_column() + cells, size.tk)}};
}

CellBox cells_of(const MapView& view, const Dimensions& size) {
    return {clip(view.top, view.rows, size.tq), clip(view.left, view.columns, size.tk)};
}

int level_of(const MapView& view, const Dimensions& size) {
    const int top = level_count(size) - 1;
    const CellBox box = cells_of(view, size);
    int level = std::clamp(view.level, 0, top);
    while (level < top && tiles_needed(box, level) > kMostVisibleTiles) ++level;
    return level;
}

std::vector<TileId> tiles_in_view(const MapView& view, int level, const Dimensions& size) {
    std::vector<TileId> tiles = tiles_in_box(cells_of(view, size), level);
    const double half_tile = 0.5 * static_cast<double>(kTileTexels << level);
    const auto distance = [&](const TileId& id) {
        const double down =
            static_cast<double>(id.first_row()) + half_tile - (view.top + view.rows / 2.0);
        const double across =
            static_cast<double>(id.first_column()) + half_tile - (view.left + view.columns / 2.0);
        return down * down + across * across;
    };
    std::ranges::stable_sort(tiles, {}, distance);
    return tiles;
}

std::vector<TileId> tiles_of_level(int level, const Dimensions& size) {
    return tiles_in_box({{0, size.tq}, {0, size.tk}}, level);
}

TileId parent_of(const TileId& id) { return {id.level + 1, id.row / 2, id.column / 2}; }

}  // namespace attn::large
