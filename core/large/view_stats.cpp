#include "core/large/view_stats.h"

#include <algorithm>
#include <cmath>

#include "core/large/texel_rows.h"
#include "core/large/tile_grid.h"

namespace attn::large {
namespace {

constexpr Index kMostSamples = 200'000;

/// Texels begin … end of one axis of a tile that lie in some cells.
KeyRange texels_in(KeyRange cells, Index first_cell, Index side, Index texels) {
    const Index begin = std::clamp<Index>((cells.begin - first_cell) / side, 0, texels);
    const Index end = std::clamp<Index>((cells.end - first_cell + side - 1) / side, begin, texels);
    return {begin, end};
}

struct TexelBox {
    KeyRange rows;
    KeyRange columns;
};

TexelBox shown(const Tile& tile, const CellBox& cells) {
    return {texels_in(cells.rows, tile.id.first_row(), tile.id.side(), tile.texels.rows),
            texels_in(cells.columns, tile.id.first_column(), tile.id.side(), tile.texels.columns)};
}

Index count(const TexelBox& box) {
    return (box.rows.end - box.rows.begin) * (box.columns.end - box.columns.begin);
}

/// Every `step`-th texel of a tile that is shown.
void sample(const Tile& tile, const TexelBox& box, Index step, Pooling pooling,
            std::vector<float>& values) {
    const Index width = box.columns.end - box.columns.begin;
    for (Index n = 0; n < count(box); n += step) {
        const float value =
            tile.value(pooling, box.rows.begin + n / width, box.columns.begin + n % width);
        if (!std::isnan(value)) values.push_back(value);
    }
}

double percentile(std::vector<float>& values, double percent) {
    const double at = percent / 100.0 * static_cast<double>(values.size() - 1);
    const auto nth = values.begin() + static_cast<Index>(at + 0.5);
    std::ranges::nth_element(values, nth);
    return static_cast<double>(*nth);
}

}  // namespace

ColorStats color_stats(std::span<const std::shared_ptr<const Tile>> tiles,
                       const ViewRequest& request, const Dimensions& size) {
    const CellBox cells = cells_of(request.view, size);
    Index texels = 0;
    for (const auto& tile : tiles) texels += count(shown(*tile, cells));
    // odd, so that the choice does not follow the columns of a tile
    const Index step = texels / kMostSamples + (texels / kMostSamples + 1) % 2;
    std::vector<float> values;
    for (const auto& tile : tiles)
        sample(*tile, shown(*tile, cells), step, request.pooling, values);
    if (values.empty()) return {};
    return {percentile(values, std::clamp(request.low_percentile, 0.0, 100.0)),
            percentile(values, std::clamp(request.high_percentile, 0.0, 100.0))};
}

Profiles profiles_of(std::span<const std::shared_ptr<const Tile>> tiles, const MapView& view,
                     const Dimensions& size) {
    Profiles profiles;
    if (tiles.empty()) return profiles;
    const CellBox cells = cells_of(view, size);
    const Index side = profiles.side = tiles.front()->id.side();
    const Index first_row = cells.rows.begin / side;
    const Index first_column = cells.columns.begin / side;
    profiles.first_row = first_row * side;
    profiles.first_column = first_column * side;
    profiles.rows.resize(static_cast<std::size_t>((cells.rows.end + side - 1) / side - first_row));
    profiles.columns.resize(
        static_cast<std::size_t>((cells.columns.end + side - 1) / side - first_column));
    for (const auto& tile : tiles) {
        const TexelBox box = shown(*tile, cells);
        const Index down = tile->id.row * kTileTexels;
        const Index across = tile->id.column * kTileTexels;
        for (Index r = box.rows.begin; r < box.rows.end; ++r)
            for (Index c = box.columns.begin; c < box.columns.end; ++c) {
                const auto width = static_cast<double>(TexelAxis{side, size.tk}.extent(across + c));
                const auto height = static_cast<double>(TexelAxis{side, size.tq}.extent(down + r));
                const double sum =
                    width * static_cast<double>(tile->texels.mean[tile->texels.at(r, c)]);
                profiles.rows[static_cast<std::size_t>(down + r - first_row)] += sum;
                profiles.columns[static_cast<std::size_t>(across + c - first_column)] +=
                    sum * height;
            }
    }
    const Index last_row =
        std::min(profiles.first_row + side * static_cast<Index>(profiles.rows.size()), size.tq);
    for (double& column : profiles.columns)
        column /= static_cast<double>(std::max<Index>(last_row - profiles.first_row, 1));
    return profiles;
}

}  // namespace attn::large
