#include "core/large/view_stats.h"

#include <algorithm>
#include <cmath>

#include "core/large/texel_rows.h"
#include "core/large/tile_grid.h"
#include "core/metrics.h"
#include "core/rounding.h"
#include "core/stages.h"

namespace attn::large {
namespace {

constexpr Index kMostSamples = 200'000;

/// Texels begin … end of one axis of a tile that lie in some cells.
KeyRange texels_in(KeyRange cells, Index first_cell, Index side, Index texels) {
    const Index begin = std::clamp<Index>((cells.begin - first_cell) / side, 0, texels);
    const Index end = std::clamp<Index>(divide_up(cells.end - first_cell, side), begin, texels);
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
        if (std::isfinite(value)) values.push_back(value);
    }
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
    return {quantile(values, std::clamp(request.low_percentile / 100.0, 0.0, 1.0)),
            quantile(values, std::clamp(request.high_percentile / 100.0, 0.0, 1.0))};
}

void describe_scores(const ViewRequest& request, const Dimensions& size, ScorePicture& scores) {
    ViewRequest means = request;
    means.pooling = Pooling::mean;
    scores.colors = color_stats(scores.tiles, means, size);
    const CellBox cells = cells_of(request.view, size);
    for (const auto& tile : scores.tiles) {
        if (tile->id.level != scores.tiles.back()->id.level) continue;  // covered by finer ones
        const TexelBox box = shown(*tile, cells);
        for (Index r = box.rows.begin; r < box.rows.end; ++r)
            for (Index c = box.columns.begin; c < box.columns.end; ++c) {
                const float mean = tile->texels.mean[tile->texels.at(r, c)];
                scores.nans += std::isnan(mean) ? 1 : 0;
                scores.infinities += std::isinf(mean) ? 1 : 0;
            }
    }
}

namespace {

/// Where the entries of profiles stand: texels from the view's first on.
struct ProfilePlace {
    Index side = 1;
    Index first_row = 0, first_column = 0;  // texels
    TexelAxis queries, keys;
};

/// Σ a of a texel over the keys that it covers, averaged over its queries.
double sum_of_keys(const Tile& tile, const ProfilePlace& place, Index r, Index c) {
    const auto width = static_cast<double>(place.keys.extent(tile.id.column * kTileTexels + c));
    return width * static_cast<double>(tile.texels.mean[tile.texels.at(r, c)]);
}

void add_rows(const Tile& tile, const TexelBox& box, const ProfilePlace& place,
              Profiles& profiles) {
    for (Index r = box.rows.begin; r < box.rows.end; ++r) {
        double& row = profiles.rows[tile.id.row * kTileTexels + r - place.first_row];
        for (Index c = box.columns.begin; c < box.columns.end; ++c)
            row += sum_of_keys(tile, place, r, c);
    }
}

/// Rows of texels with a NaN are left out: the others still say something.
void add_columns(const Tile& tile, const TexelBox& box, const ProfilePlace& place,
                 Profiles& profiles) {
    const Index across = tile.id.column * kTileTexels;
    for (Index r = box.rows.begin; r < box.rows.end; ++r) {
        const Index row = tile.id.row * kTileTexels + r;
        if (std::isnan(profiles.rows[row - place.first_row])) continue;
        const auto height = static_cast<double>(place.queries.extent(row));
        for (Index c = box.columns.begin; c < box.columns.end; ++c)
            profiles.columns[across + c - place.first_column] +=
                height * static_cast<double>(tile.texels.mean[tile.texels.at(r, c)]);
    }
}

void count_queries(const ProfilePlace& place, Profiles& profiles) {
    for (std::size_t n = 0; n < profiles.rows.size(); ++n)
        (std::isnan(profiles.rows[n]) ? profiles.queries_left_out : profiles.queries) +=
            place.queries.extent(place.first_row + static_cast<Index>(n));
}

}  // namespace

Profiles profiles_of(std::span<const std::shared_ptr<const Tile>> tiles, const MapView& view,
                     const Dimensions& size) {
    Profiles profiles;
    if (tiles.empty()) return profiles;
    const CellBox cells = cells_of(view, size);
    const Index side = tiles.front()->id.side();
    const ProfilePlace place{side,
                             cells.rows.begin / side,
                             cells.columns.begin / side,
                             {side, size.tq},
                             {side, size.tk}};
    profiles.side = side;
    profiles.first_row = place.first_row * side;
    profiles.first_column = place.first_column * side;
    const Index end_row = divide_up(cells.rows.end, side);
    const Index end_column = divide_up(cells.columns.end, side);
    profiles.rows.resize(end_row - place.first_row);
    profiles.columns.resize(end_column - place.first_column);
    profiles.keys = std::min(end_column * side, size.tk) - profiles.first_column;
    for (const auto& tile : tiles) add_rows(*tile, shown(*tile, cells), place, profiles);
    for (const auto& tile : tiles) add_columns(*tile, shown(*tile, cells), place, profiles);
    count_queries(place, profiles);
    for (double& column : profiles.columns)
        column /= static_cast<double>(std::max<Index>(profiles.queries, 1));
    return profiles;
}

}  // namespace attn::large
