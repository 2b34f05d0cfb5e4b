#include "app/common/map/pictures.h"

#include <bit>
#include <cmath>

#include "app/common/color_look.h"
#include "app/common/colormap.h"
#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/colors.h"
#include "app/common/map/text.h"
#include "app/common/number_style.h"
#include "app/common/state.h"
#include "core/large/tiles.h"
#include "core/large/weight_map.h"
#include "core/rng.h"
#include "core/spec.h"

namespace attn::view {
namespace {

using large::Tile;
using TilePtr = std::shared_ptr<const Tile>;

/// A hash of everything that decides pixels.
class ContentKey {
  public:
    ContentKey& add(std::uint64_t part) {
        key_ = mix(key_, part);
        return *this;
    }
    ContentKey& add(Index part) { return add(static_cast<std::uint64_t>(part)); }
    ContentKey& add(double part) { return add(std::bit_cast<std::uint64_t>(part)); }
    std::uint64_t value() const { return key_; }

  private:
    std::uint64_t key_ = 0x6D6170;  // "map"
};

ContentKey key_of(const AppState& state, const Tile& tile) {
    ContentKey key;
    key.add(map_look(state).inputs).add(state.batch).add(state.head);
    key.add(Index{tile.id.level}).add(tile.id.row).add(tile.id.column).add(tile.version);
    key.add(static_cast<Index>(tile.origin)).add(static_cast<Index>(state.theme));
    key.add(static_cast<Index>(map_look(state).picture));
    return key.add(static_cast<Index>(map_look(state).colors.pooling));
}

PixelRect tile_on_canvas(const MapLook& look, const Tile& tile) {
    const Index side = tile.id.side();
    return cells_on_canvas(look, {tile.id.first_row(), tile.id.first_column()},
                           tile.texels.rows * side, tile.texels.columns * side);
}

/// The finest level of `tiles` that is not finer than `wanted`.
int level_among(std::span<const TilePtr> tiles, int wanted) {
    for (auto tile = tiles.rbegin(); tile != tiles.rend(); ++tile)
        if ((*tile)->id.level >= wanted) return (*tile)->id.level;
    return wanted;
}

MapPicture tile_picture(const AppState& state, const TilePtr& tile, const PixelRect& where,
                        const WeightRange& range) {
    ContentKey key = key_of(state, *tile);
    key.add(range.low).add(range.high).add(Index{range.log_scale}).add(Index{range.root});
    key.add(static_cast<Index>(range.map));
    return {where, key.value(),
            [tile, range, pooling = map_look(state).colors.pooling, name = state.theme] {
                return paint_tile(*tile, pooling, range, name);
            }};
}

MapPicture score_picture(const AppState& state, const TilePtr& tile, const PixelRect& where,
                         double high) {
    ContentKey key = key_of(state, *tile);
    return {where, key.add(high).value(),
            [tile, high, name = state.theme] { return paint_scores(*tile, high, name); }};
}

/// The finest of `tiles` that holds a cell.
const Tile* finest_tile(std::span<const TilePtr> tiles, large::Cell cell) {
    for (auto tile = tiles.rbegin(); tile != tiles.rend(); ++tile) {
        const large::TileId& id = (*tile)->id;
        const Index row = (cell.row - id.first_row()) >> id.level;
        const Index column = (cell.column - id.first_column()) >> id.level;
        if (row >= 0 && column >= 0 && row < (*tile)->texels.rows &&
            column < (*tile)->texels.columns)
            return tile->get();
    }
    return nullptr;
}

/// Of the means of the whole matrix.
double overview_range(const Tile& tile) {
    double most = 0.0;
    for (const float mean : tile.texels.mean)
        if (std::isfinite(mean)) most = std::max(most, std::abs(static_cast<double>(mean)));
    return score_range(-most, most);
}

/// Whether an ink for light fills is the right one, by the steps of the ramp.
struct Inks {
    std::vector<Color> by_step;
    const WeightRange range;

    Inks(const MapLook& look, ColorMap map, ThemeName name) : range(range_of_picture(look)) {
        const auto ramp = shows_scores(look) ? score_legend(1.0, {}, 1, false, name).colors
                                             : weight_ramp(name, false, kSteps, map);
        for (std::size_t n = 0; n < kSteps; ++n)
            by_step.push_back(ink_on(ramp[n * (ramp.size() - 1) / (kSteps - 1)], name));
    }
    static WeightRange range_of_picture(const MapLook& look) {
        if (!shows_scores(look)) return range_in_view(look);
        const double high = score_range_in_view(look);
        return {-high, high, false};
    }
    Color of(double weight) const {
        const double t = position(range, weight);
        const double step = std::isnan(t) ? 0.0 : std::clamp(t, 0.0, 1.0) * (kSteps - 1);
        return by_step[static_cast<std::size_t>(std::lround(step))];
    }
    static constexpr int kSteps = 17;
};

/// The exact weights of a tile of single cells that are in view.
void add_figures(const AppState& state, const Tile& tile, const Inks& inks,
                 std::vector<MapFigure>& figures) {
    const MapLook& look = map_look(state);
    const MapCanvas canvas = canvas_of(look);
    const auto from = [](double at, Index first) {
        return std::max(Index{0}, static_cast<Index>(std::floor(at)) - first);
    };
    const Index top = from(row_at(look, 0.0), tile.id.first_row());
    const Index left = from(column_at(look, 0.0), tile.id.first_column());
    const Index bottom =
        std::min(tile.texels.rows, from(row_at(look, canvas.height), tile.id.first_row() - 1));
    const Index right = std::min(tile.texels.columns,
                                 from(column_at(look, canvas.width), tile.id.first_column() - 1));
    for (Index row = top; row < bottom; ++row)
        for (Index column = left; column < right; ++column) {
            if (tile.texels.masked(row, column)) continue;
            const double weight = tile.texels.mean[tile.texels.at(row, column)];
            const large::Cell cell{tile.id.first_row() + row, tile.id.first_column() + column};
            const std::string text = shows_scores(look)
                                         ? cell_number(weight, 2)
                                         : without_leading_zero(short_weight(weight));
            figures.push_back(
                {cells_on_canvas(look, cell, 1, 1), text,
                 std::isfinite(weight) ? inks.of(weight) : theme(state.theme).background});
        }
}

}  // namespace

bool is_on_canvas(const MapLook& look, const PixelRect& rect) {
    const MapCanvas canvas = canvas_of(look);
    return rect.right > 0.0 && rect.bottom > 0.0 && rect.left < canvas.width &&
           rect.top < canvas.height;
}

std::span<const TilePtr> drawn_tiles(const MapLook& look) {
    if (!look.snapshot) return {};
    return shows_scores(look) ? look.snapshot->scores.tiles : look.snapshot->tiles;
}

int drawn_level(const MapLook& look) { return level_among(drawn_tiles(look), tile_level(look)); }

bool is_estimated(const MapLook& look) {
    if (!look.snapshot) return false;
    const int level = level_among(look.snapshot->tiles, tile_level(look));
    return std::ranges::any_of(look.snapshot->tiles, [&](const TilePtr& tile) {
        const bool shows = tile->id.level == level || !look.snapshot->complete;
        return shows && tile->origin != large::TileOrigin::exact &&
               is_on_canvas(look, tile_on_canvas(look, *tile));
    });
}

PixelRect cells_on_canvas(const MapLook& look, large::Cell first, Index rows, Index columns) {
    return {x_of(look, static_cast<double>(first.column)),
            y_of(look, static_cast<double>(first.row)),
            x_of(look, static_cast<double>(first.column + columns)),
            y_of(look, static_cast<double>(first.row + rows))};
}

WeightRange range_in_view(const MapLook& look, ColorMap map) {
    const large::ColorStats stats = look.snapshot ? look.snapshot->colors : large::ColorStats{};
    const bool root = is_sentence(look);
    WeightRange range =
        weight_range(look.snapshot ? stats.low : 0.0, look.snapshot ? stats.high : 0.0,
                     look.colors.log_scale && !root);
    range.map = map;
    range.root = root;
    if (root && look.snapshot &&
        look.snapshot->overview)  // of all, so that panning changes nothing
        if (const double most = largest_weight(*look.snapshot->overview); most > 0.0)
            range.high = most;
    return range;
}

double score_range_in_view(const MapLook& look) {
    if (!look.snapshot) return 1.0;
    const large::ColorStats& stats = look.snapshot->scores.colors;
    return score_range(stats.low, stats.high);
}

std::vector<MapPicture> map_pictures(const AppState& state) {
    const MapLook& look = map_look(state);
    std::vector<MapPicture> pictures;
    if (!look.snapshot) return pictures;
    const WeightRange range = range_in_view(look, color_look(state).map);
    const int finest = tile_level(look);  // smaller texels than pixels would drop cells
    const double scores = score_range_in_view(look);
    for (const TilePtr& tile : drawn_tiles(look)) {
        const PixelRect where = tile_on_canvas(look, *tile);
        if (tile->id.level < finest || !is_on_canvas(look, where)) continue;
        pictures.push_back(shows_scores(look) ? score_picture(state, tile, where, scores)
                                              : tile_picture(state, tile, where, range));
    }
    return pictures;
}

std::vector<MapFigure> map_figures(const AppState& state) {
    const MapLook& look = map_look(state);
    std::vector<MapFigure> figures;
    const double cell_px = 1.0 / cells_per_pixel(look);
    if (!look.snapshot || cell_px < kFigureCell * canvas_of(look).scale) return figures;
    const Inks inks(look, color_look(state).map, state.theme);
    for (const TilePtr& tile : drawn_tiles(look))
        if (tile->id.level == 0 && tile->origin == large::TileOrigin::exact)
            add_figures(state, *tile, inks, figures);
    return figures;
}

Minimap minimap(const AppState& state) {
    const MapLook& look = map_look(state);
    const MapSize size = map_size(look);
    const MapCanvas canvas = canvas_of(look);
    Minimap map;
    const auto across = [&](double x) {
        return std::clamp(column_at(look, x) / static_cast<double>(size.columns), 0.0, 1.0);
    };
    const auto down = [&](double y) {
        return std::clamp(row_at(look, y) / static_cast<double>(size.rows), 0.0, 1.0);
    };
    map.view = {across(0.0), down(0.0), across(canvas.width), down(canvas.height)};
    if (!look.snapshot) return map;
    const TilePtr tile =
        shows_scores(look) ? look.snapshot->scores.overview : look.snapshot->overview;
    if (!tile) return map;
    if (shows_scores(look)) {
        const double high = overview_range(*tile);
        map.picture = score_picture(state, tile, {0.0, 0.0, 1.0, 1.0}, high);
        return map;
    }
    ContentKey key = key_of(state, *tile);
    key.add(look.colors.low_percentile).add(look.colors.high_percentile);
    const ColorMap colors = color_look(state).map;
    key.add(Index{look.colors.log_scale}).add(hash_text("overview"));
    const bool root = is_sentence(look);
    key.add(static_cast<Index>(colors)).add(Index{root});
    map.picture = MapPicture{{0.0, 0.0, 1.0, 1.0},
                             key.value(),
                             [tile, of = look.colors, colors, root, name = state.theme] {
                                 return paint_overview(*tile, of, colors, root, name);
                             }};
    return map;
}

std::optional<DrawnWeight> drawn_weight(const MapLook& look, large::Cell cell) {
    const Tile* const tile = finest_tile(drawn_tiles(look), cell);
    if (!tile) return std::nullopt;
    const Index row = (cell.row - tile->id.first_row()) >> tile->id.level;
    const Index column = (cell.column - tile->id.first_column()) >> tile->id.level;
    const auto pooling = shows_scores(look) ? large::Pooling::mean : look.colors.pooling;
    return DrawnWeight{tile->value(pooling, row, column), tile->id.side(),
                       tile->texels.masked(row, column), tile->origin == large::TileOrigin::exact};
}

}  // namespace attn::view
