#include "app/common/map/cells.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "app/common/color_look.h"
#include "app/common/document/key_tokens.h"
#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/map/colors.h"
#include "app/common/map/pictures.h"
#include "app/common/map/ruler.h"
#include "app/common/map/text.h"
#include "app/common/number_style.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "core/large/tiles.h"
#include "core/large/weight_map.h"
#include "core/rng.h"

namespace attn::view {
namespace {

constexpr int kRampSteps = 33;       // of the legend
constexpr double kFaint = 0.16;      // how far an allowed pair of a mask stands out
constexpr double kPainted = 0.22;    // how far one that is painted is tinted
constexpr double kFigureRow = 16.0;  // design units of a row in which a number fits

/// Cells that one texel stands for.
struct CellBlock {
    Index row, column, end_row, end_column;
};

/// What a texel shows of its cells. What is not a number comes before those that are.
struct PooledCells {
    float largest = 0.0F;  // by size
    bool any = false;      // one that is not masked
    bool nan = false, infinite = false, painted = false;
    bool clipped = true;  // all keys are
};

void pool_cell(const MapCells& cells, Index row, Index column, PooledCells& pooled) {
    const auto n = static_cast<std::size_t>(row * cells.values.columns + column);
    if (!cells.painted.empty() && cells.painted[n] != 0) pooled.painted = true;
    if (!cells.masked.empty() && cells.masked[n] != 0) return;
    pooled.any = true;
    const float value = cells.values(row, column);
    if (std::isnan(value)) pooled.nan = true;
    if (std::isinf(value)) pooled.infinite = true;
    if (!cells.clipped.empty() && cells.clipped[column] != 0) return;
    pooled.clipped = false;
    if (std::abs(value) > std::abs(pooled.largest)) pooled.largest = value;
}

PooledCells pooled_of(const MapCells& cells, const CellBlock& block) {
    PooledCells pooled;
    for (Index i = block.row; i < block.end_row; ++i)
        for (Index j = block.column; j < block.end_column; ++j) pool_cell(cells, i, j, pooled);
    return pooled;
}

Color color_of_cells(const MapCells& cells, const PooledCells& pooled, const ColorRange& range,
                     ThemeName name) {
    if (cells.support) return support_color(pooled.any, pooled.painted, name);
    if (pooled.nan) return theme(name).nan;
    if (!pooled.any) return theme(name).masked;
    if (pooled.infinite) return infinite_color(name);
    if (pooled.clipped) return clipped_color(name);
    return color_of(range, pooled.largest, name);
}

/// Rows and columns of the cells that one texel stands for.
struct TexelSides {
    Index rows = 1, columns = 1;
};

/// At this zoom: no more texels than pixels.
TexelSides texel_sides(const MapLook& look) {
    const auto side = [](double cells_of_pixel) {
        const double level = std::ceil(std::log2(cells_of_pixel) - 1e-6);
        return Index{1} << static_cast<int>(std::clamp(level, 0.0, 40.0));
    };
    return {side(rows_per_pixel(look)), side(columns_per_pixel(look))};
}

Image paint_cells(const MapCells& cells, CellBlock of, TexelSides side, const ColorRange& range,
                  ThemeName name) {
    const Index rows = (of.end_row - of.row + side.rows - 1) / side.rows;
    const Index columns = (of.end_column - of.column + side.columns - 1) / side.columns;
    Image image{static_cast<int>(columns), static_cast<int>(rows), {}};
    image.rgba.resize(4 * static_cast<std::size_t>(rows * columns));
    std::uint8_t* pixel = image.rgba.data();
    for (Index r = 0; r < rows; ++r)
        for (Index c = 0; c < columns; ++c, pixel += 4) {
            const Index row = of.row + r * side.rows;
            const Index column = of.column + c * side.columns;
            const CellBlock block{row, column, std::min(row + side.rows, of.end_row),
                                  std::min(column + side.columns, of.end_column)};
            const Color color = color_of_cells(cells, pooled_of(cells, block), range, name);
            std::memcpy(pixel, &color, sizeof color);
        }
    return image;
}

/// Tiles first … last along an axis that the canvas shows.
std::pair<Index, Index> tiles_shown(double low, double high, Index cells, Index tile) {
    const auto bound = static_cast<double>(cells - 1);
    const auto at = [&](double cell) {
        return static_cast<Index>(std::clamp(std::floor(cell), 0.0, bound)) / tile;
    };
    return {at(low), at(high)};
}

std::vector<MapPicture> cell_pictures(const AppState& state, const MapCellsPtr& cells) {
    const MapLook& look = map_look(state);
    const MapCanvas canvas = canvas_of(look);
    const TexelSides side = texel_sides(look);
    const TexelSides tile{side.rows * large::kTileTexels, side.columns * large::kTileTexels};
    const MatrixView<const float>& values = cells->values;
    const ThemeName name = state.theme;
    const ColorRange range = with_look(cells->range, color_look(state));
    const std::uint64_t looks =
        mix(static_cast<std::uint64_t>(name) * 8 + static_cast<std::uint64_t>(range.map),
            std::bit_cast<std::uint64_t>(range.high));
    const auto [top, bottom] =
        tiles_shown(row_at(look, 0.0), row_at(look, canvas.height), values.rows, tile.rows);
    const auto [left, right] = tiles_shown(column_at(look, 0.0), column_at(look, canvas.width),
                                           values.columns, tile.columns);
    std::vector<MapPicture> pictures;
    for (Index r = top; r <= bottom; ++r)
        for (Index c = left; c <= right; ++c) {
            const CellBlock block{r * tile.rows, c * tile.columns,
                                  std::min((r + 1) * tile.rows, values.rows),
                                  std::min((c + 1) * tile.columns, values.columns)};
            // A texel at the edge may stand for fewer cells than the others.
            const auto whole = [](Index count, Index of) { return (count + of - 1) / of * of; };
            std::uint64_t key = mix(mix(cells->content, static_cast<std::uint64_t>(side.rows)),
                                    static_cast<std::uint64_t>(side.columns));
            key = mix(mix(key, static_cast<std::uint64_t>(r)), static_cast<std::uint64_t>(c));
            pictures.push_back(
                {cells_on_canvas(look, {block.row, block.column},
                                 whole(block.end_row - block.row, side.rows),
                                 whole(block.end_column - block.column, side.columns)),
                 mix(key, looks), [cells, block, side, range, name] {
                     return paint_cells(*cells, block, side, range, name);
                 }});
        }
    return pictures;
}

/// A number in few characters.
std::string cell_text(const MapCells& cells, double value) {
    if (cells.support) return value != 0.0 ? "1" : "0";
    return cells.range.scale == ColorScale::unit ? without_leading_zero(short_weight(value))
                                                 : cell_number(value, 2);
}

/// The numbers of the cells in view, once they fit.
std::vector<MapFigure> cell_figures(const AppState& state, const MapCells& cells) {
    const MapLook& look = map_look(state);
    const MapCanvas canvas = canvas_of(look);
    std::vector<MapFigure> figures;
    const double largest =
        std::max(rows_per_pixel(look) * kFigureRow, columns_per_pixel(look) * kFigureCell);
    if (largest * canvas.scale > 1.0) return figures;
    const auto [top, bottom] =
        tiles_shown(row_at(look, 0.0), row_at(look, canvas.height), cells.values.rows, 1);
    const auto [left, right] =
        tiles_shown(column_at(look, 0.0), column_at(look, canvas.width), cells.values.columns, 1);
    const ColorRange range = with_look(cells.range, color_look(state));
    for (Index i = top; i <= bottom; ++i)
        for (Index j = left; j <= right; ++j) {
            if (!cells.support && cells.is_masked(i, j)) continue;
            const Color fill =
                color_of_cells(cells, pooled_of(cells, {i, j, i + 1, j + 1}), range, state.theme);
            figures.push_back({cells_on_canvas(look, {i, j}, 1, 1),
                               cell_text(cells, cells.values(i, j)), ink_on(fill, state.theme)});
        }
    return figures;
}

std::string legend_title(const MapCells& cells, TexelSides side) {
    const bool single = side.rows == 1 && side.columns == 1;
    if (cells.support)
        return single ? "may attend, or forbidden"
                      : fmt::format("one of {} × {} pairs may attend, or none", side.rows,
                                    side.columns);
    if (single) return cells.noun;
    return fmt::format("largest {} of {} × {} cells{}", cells.noun, side.rows, side.columns,
                       cells.range.scale == ColorScale::diverging ? ", by size" : "");
}

MapLegend cell_legend(const MapCells& cells, TexelSides side, const ColorRange& range,
                      ThemeName name) {
    MapLegend legend;
    legend.title = legend_title(cells, side);
    for (int n = 0; n < kRampSteps; ++n) {
        const double at = static_cast<double>(n) / (kRampSteps - 1);
        legend.colors.push_back(cells.support ? support_color(at > 0.5, false, name)
                                              : color_at(range.scale, at, name, range.map));
    }
    const bool sign = range.scale == ColorScale::diverging;
    if (cells.support)
        legend.ticks = {{0.0, "forbidden"}, {1.0, "may attend"}};
    else
        legend.ticks = {
            {0.0, range.curve == ColorCurve::log && !sign ? "≤ " + tick(range.high * kLogFloor)
                                                          : tick(range.low)},
            {position_of(range, sign ? 0.0 : 0.1 * range.high),
             tick(sign ? 0.0 : 0.1 * range.high)},
            {1.0, tick(range.high)}};
    if (!cells.support && !cells.masked.empty()) legend.masked = "masked";
    if (cells.support && !cells.painted.empty()) legend.masked = "painted";
    legend.masked_color = cells.support ? support_color(false, true, name) : theme(name).masked;
    if (cells.nans > 0) legend.nan = grouped(cells.nans) + " NaN";
    legend.nan_color = theme(name).nan;
    if (cells.infinities > 0) legend.infinite = "±∞";
    legend.infinite_color = infinite_color(name);
    legend.note = cells.support ? "a query may attend to a key, or its score becomes −∞"
                                : fmt::format("from {} to {}", tick(range.low), tick(range.high));
    return legend;
}

/// "query 17 “cat” → key 5 “sat”: weight 0.0312": of the cell itself, whatever its texel pools.
std::string text_of_cell(const MapCells& cells, const AxisText& rows, const AxisText& columns,
                         large::Cell at) {
    const auto token = [](std::string_view kind, const AxisText& axis, Index n) {
        const std::string word = axis.word(n);
        return fmt::format("{} {}{}", kind, grouped(n),
                           word.empty() ? "" : fmt::format(" “{}”", word));
    };
    const std::string pair = fmt::format("{} → {}: ", token(cells.row_word, rows, at.row),
                                         token(cells.column_word, columns, at.column));
    const bool masked = cells.is_masked(at.row, at.column);
    if (cells.support) return pair + (masked ? "forbidden" : "may attend");
    if (masked) return pair + "masked";
    return fmt::format("{}{} {}", pair, cells.noun, number(cells.values(at.row, at.column)));
}

AxisText axis_of(const AppState& state, bool keys, const MapCells& cells) {
    const Document& document = state.document();
    const bool own = keys && !cells.columns.empty();
    const std::span<const std::string> tokens = own    ? cells.columns
                                                : keys ? key_tokens(document, state.batch)
                                                       : tokens_of(document, state.batch);
    AxisText axis{keys ? cells.values.columns : cells.values.rows, [tokens](Index n) {
                      const auto at = static_cast<std::size_t>(n);
                      return at < tokens.size() ? shown_token(tokens[at]) : std::string();
                  }};
    axis.own = !tokens.empty();
    if (document.landmarks && !own) axis.starts = document.landmarks->document_starts;
    return axis;
}

/// Of a matrix without gaps between its rows.
std::span<const float> all_of(MatrixView<const float> values) {
    return {values.data, static_cast<std::size_t>(values.rows * values.columns)};
}

bool holds(const MatrixView<const float>& values, large::Cell cell) {
    return cell.row >= 0 && cell.row < values.rows && cell.column >= 0 &&
           cell.column < values.columns;
}

PixelRect selected_rect(const MapLook& look, const MapSelection& selected) {
    const large::Cell other = selected.corner.value_or(selected.cell);
    const auto [top, bottom] = std::minmax(selected.cell.row, other.row);
    const auto [left, right] = std::minmax(selected.cell.column, other.column);
    return cells_on_canvas(look, {top, left}, bottom - top + 1, right - left + 1);
}

std::uint64_t content_of(const MapCells& cells) {
    std::uint64_t key = hash_text(cells.title);
    const auto add = [&key](const auto* first, Index count) {
        key = mix(key, hash_text({reinterpret_cast<const char*>(first),
                                  static_cast<std::size_t>(count) * sizeof *first}));
    };
    for (Index i = 0; i < cells.values.rows; ++i)
        add(cells.values.row(i).data(), cells.values.columns);
    for (const auto* bytes : {&cells.masked, &cells.clipped, &cells.painted})
        add(bytes->data(), std::ssize(*bytes));
    for (const double each : {cells.range.low, cells.range.high})
        key = mix(key, std::bit_cast<std::uint64_t>(each));
    for (const int each : {static_cast<int>(cells.range.scale), static_cast<int>(cells.range.curve),
                           static_cast<int>(cells.role), cells.support ? 1 : 0})
        key = mix(key, static_cast<std::uint64_t>(each));
    return key;
}

}  // namespace

bool is_long(const Document& document) {
    return is_map_size(document.size.tq, document.size.tk) &&
           (!is_empty(document) || !document.given.empty());
}

ColorRange weights_range(MatrixView<const float> weights) {
    return range_of(ColorScale::unit, all_of(weights));
}

ColorRange signed_range(MatrixView<const float> values) {
    return range_of(ColorScale::diverging, all_of(values));
}

MapCellsPtr make_cells(MapCells cells) {
    for (const auto [i, j] : each_cell(cells.values)) {
        if (cells.is_masked(i, j)) continue;
        cells.nans += std::isnan(cells.values(i, j)) ? 1 : 0;
        cells.infinities += std::isinf(cells.values(i, j)) ? 1 : 0;
    }
    cells.content = content_of(cells);
    return std::make_shared<const MapCells>(std::move(cells));
}

MapCellsPtr make_cells(MapCells cells, std::vector<float> values, Index columns) {
    const auto own = std::make_shared<const std::vector<float>>(std::move(values));
    const Index rows = columns > 0 ? std::ssize(*own) / columns : 0;
    cells.values = {own->data(), rows, columns, columns};
    cells.owner = own;
    return make_cells(std::move(cells));
}

MapView cells_view(const AppState& state, const MapCellsPtr& cells, const MapSelection& selected) {
    const MapLook& look = map_look(state);
    const auto& values = cells->values;
    MapView view;
    view.empty = values.rows == 0 || values.columns == 0;
    view.title = cells->title;
    view.role = cells->role;
    if (view.empty) return view;
    const TexelSides side = texel_sides(look);
    view.matrix = cells_on_canvas(look, {}, values.rows, values.columns);
    view.pictures = cell_pictures(state, cells);
    view.figures = cell_figures(state, *cells);
    AxisText rows = axis_of(state, false, *cells);
    AxisText columns = axis_of(state, true, *cells);
    if (holds(values, selected.cell)) {
        rows.selected = selected.cell.row;
        columns.selected = selected.cell.column;
        view.selected = selected_rect(look, selected);
    }
    view.row_ruler = ruler(look, false, rows);
    view.column_ruler = ruler(look, true, columns);
    view.row_title = fmt::format("{} i", cells->row_word);
    view.column_title = fmt::format("{} j", cells->column_word);
    view.legend =
        cell_legend(*cells, side, with_look(cells->range, color_look(state)), state.theme);
    view.quality = cells->nans > 0 ? fmt::format("exact, {} NaN", grouped(cells->nans)) : "exact";
    view.flawed = cells->nans > 0 || cells->infinities > 0;
    view.zoom_text = zoom_text(look);
    if (!look.hovered || !holds(values, *look.hovered)) return view;
    view.hovered = cells_on_canvas(look, *look.hovered, 1, 1);
    view.hover_text = text_of_cell(*cells, rows, columns, *look.hovered);
    return view;
}

std::vector<MapView> cells_views(const AppState& state, const MapCellsSet& set,
                                 const MapSelection& selected) {
    std::vector<MapView> views;
    for (const MapCellsPtr& cells : set) views.push_back(cells_view(state, cells, selected));
    return views;
}

Color support_color(bool allowed, bool painted, ThemeName name) {
    const Theme& colors = theme(name);
    if (allowed) return blend(colors.background, colors.role(Role::weight), kFaint);
    return painted ? blend(colors.masked, colors.accent, kPainted) : colors.masked;
}

}  // namespace attn::view
