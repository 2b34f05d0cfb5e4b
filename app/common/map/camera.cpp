#include "app/common/map/camera.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "app/common/fields.h"
#include "app/common/state.h"
#include "core/large/map_input.h"
#include "core/large/tiles.h"

namespace attn::view {
namespace {

constexpr MapCanvas kUsualCanvas{1000.0, 800.0};
constexpr double kReadableCell = 48.0;  // of camera_at(), design units
constexpr double kFitSlack = 1.0 - 1e-9;
constexpr double kThinCell =
    16.0;  // design units of a row or column of few, where the canvas has the space
constexpr Index kThin = 4;  // times as many columns as rows, or rows as columns

/// How many times as large as square cells those of an axis are whose `cells` have `space` pixels, beside `others` of the other.
double stretch_of(const MapLook& look, double cells_per_pixel, Index cells, Index others,
                  double space) {
    const bool of_tiles = look.own_shown || look.form != MapForm::own;
    if (of_tiles || cells == 0 || cells > others / kThin) return 1.0;
    const double each = space / static_cast<double>(cells);
    return std::max(1.0, std::min(kThinCell * canvas_of(look).scale, each) * cells_per_pixel);
}

double rows_per_pixel_at(const MapLook& look, double cells) {
    const auto [rows, columns] = look.size;
    return cells / stretch_of(look, cells, rows, columns, canvas_of(look).height);
}

double columns_per_pixel_at(const MapLook& look, double cells) {
    const auto [rows, columns] = look.size;
    return cells / stretch_of(look, cells, columns, rows, canvas_of(look).width);
}

double fitting_cells_per_unit(const MapLook& look) {
    const MapCanvas canvas = canvas_of(look);
    return canvas.scale * std::max(static_cast<double>(look.size.columns) / canvas.width,
                                   static_cast<double>(look.size.rows) / canvas.height);
}

/// The parts of a text between any of `separators`.
std::vector<std::string> parts_of(std::string_view text, std::string_view separators) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const std::size_t end = text.find_first_of(separators);
        if (end != 0) parts.emplace_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return parts;
}

std::optional<Index> whole_number(std::string text) {
    std::erase(text, ',');
    Index number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data(), end, number);
    if (text.empty() || fault != std::errc{} || stop != end || number < 0) return std::nullopt;
    return number;
}

/// The scale changes evenly in its logarithm, and the middle as the scale does, so that the target stays in view.
MapCamera flown(const MapFlight& flight, const MapCamera& target) {
    const double part = std::clamp(1.0 - flight.left_s / flight.seconds, 0.0, 1.0);
    const double eased = part * part * (3.0 - 2.0 * part);
    const MapCamera& from = flight.from;
    const double ratio = target.cells_per_unit / from.cells_per_unit;
    const double scale = from.cells_per_unit * std::pow(ratio, eased);
    const double rest =
        std::abs(ratio - 1.0) < 1e-9
            ? 1.0 - eased
            : (scale - target.cells_per_unit) / (from.cells_per_unit - target.cells_per_unit);
    return {target.row + rest * (from.row - target.row),
            target.column + rest * (from.column - target.column), scale};
}

}  // namespace

MapSize map_size(const MapLook& look) { return look.size; }

MapCanvas canvas_of(const MapLook& look) {
    return look.canvas.width >= 1.0 && look.canvas.height >= 1.0 ? look.canvas : kUsualCanvas;
}

MapCamera shown_camera(const MapLook& look) {
    const MapCamera target = look.fitted ? fitted_camera(look) : clamped(look, look.camera);
    return look.flight ? clamped(look, flown(*look.flight, target)) : target;
}

double cells_per_pixel(const MapLook& look) {
    return shown_camera(look).cells_per_unit / canvas_of(look).scale;
}

double rows_per_pixel(const MapLook& look) {
    return rows_per_pixel_at(look, cells_per_pixel(look));
}

double columns_per_pixel(const MapLook& look) {
    return columns_per_pixel_at(look, cells_per_pixel(look));
}

MapCamera fitted_camera(const MapLook& look) {
    if (look.size == MapSize{}) return look.camera;
    return {static_cast<double>(look.size.rows) / 2.0, static_cast<double>(look.size.columns) / 2.0,
            fitting_cells_per_unit(look)};
}

MapCamera clamped(const MapLook& look, MapCamera camera) {
    const MapCamera fit = fitted_camera(look);
    const bool finite = std::isfinite(camera.row) && std::isfinite(camera.column) &&
                        std::isfinite(camera.cells_per_unit) && camera.cells_per_unit > 0.0;
    if (!finite) return fit;
    if (look.size == MapSize{}) return camera;
    if (is_fit(look, camera)) return fit;
    const double closest = std::min(1.0 / kLargestCell, fit.cells_per_unit);
    return {std::clamp(camera.row, 0.0, static_cast<double>(look.size.rows)),
            std::clamp(camera.column, 0.0, static_cast<double>(look.size.columns)),
            std::max(camera.cells_per_unit, closest)};
}

MapCamera zoomed_about(const MapLook& look, double x, double y, double factor) {
    const MapCanvas canvas = canvas_of(look);
    MapCamera camera = shown_camera(look);
    camera.cells_per_unit /= factor;
    camera.cells_per_unit = clamped(look, camera).cells_per_unit;
    const double cells = camera.cells_per_unit / canvas.scale;
    camera.row = row_at(look, y) - (y - canvas.height / 2.0) * rows_per_pixel_at(look, cells);
    camera.column =
        column_at(look, x) - (x - canvas.width / 2.0) * columns_per_pixel_at(look, cells);
    return clamped(look, camera);
}

MapCamera zoomed(const MapLook& look, double factor) {
    const MapCanvas canvas = canvas_of(look);
    return zoomed_about(look, canvas.width / 2.0, canvas.height / 2.0, factor);
}

MapCamera panned(const MapLook& look, double dx, double dy) {
    MapCamera camera = shown_camera(look);
    camera.row -= dy * rows_per_pixel(look);
    camera.column -= dx * columns_per_pixel(look);
    return clamped(look, camera);
}

MapCamera centred_at(const MapLook& look, double across, double down) {
    return clamped(
        look, {down * static_cast<double>(look.size.rows),
               across * static_cast<double>(look.size.columns), shown_camera(look).cells_per_unit});
}

MapCamera camera_at(large::Cell cell) {
    return {static_cast<double>(cell.row) + 0.5, static_cast<double>(cell.column) + 0.5,
            1.0 / kReadableCell};
}

bool is_fit(const MapLook& look, const MapCamera& camera) {
    return look.size != MapSize{} &&
           camera.cells_per_unit >= kFitSlack * fitting_cells_per_unit(look);
}

double x_of(const MapLook& look, double column) {
    return canvas_of(look).width / 2.0 +
           (column - shown_camera(look).column) / columns_per_pixel(look);
}

double y_of(const MapLook& look, double row) {
    return canvas_of(look).height / 2.0 + (row - shown_camera(look).row) / rows_per_pixel(look);
}

double column_at(const MapLook& look, double x) {
    return shown_camera(look).column + (x - canvas_of(look).width / 2.0) * columns_per_pixel(look);
}

double row_at(const MapLook& look, double y) {
    return shown_camera(look).row + (y - canvas_of(look).height / 2.0) * rows_per_pixel(look);
}

int tile_level(const MapLook& look) {
    if (!look.input) return 0;
    // log2 of a power of two that went through a division may end just above the whole number
    const double level = std::ceil(std::log2(cells_per_pixel(look)) - 1e-6);
    return static_cast<int>(
        std::clamp(level, 0.0, large::level_count(look.input->source.size) - 1.0));
}

bool has_map_cell(const MapLook& look, large::Cell cell) {
    const MapSize size = map_size(look);
    return cell.row >= 0 && cell.row < size.rows && cell.column >= 0 && cell.column < size.columns;
}

bool has_search(const MapLook& look, const large::Search& search) {
    const bool key = search.of == large::Search::Of::key;
    return search.index >= 0 && search.index < (key ? look.size.columns : look.size.rows);
}

std::optional<large::Cell> parse_map_cell(std::string_view text) {
    // the bytes of → are separators too, each by itself
    std::vector<std::string> parts = parts_of(text, " ;→");
    std::erase(parts, ",");
    if (parts.size() == 1) parts = parts_of(parts[0], ",");
    if (parts.empty() || parts.size() > 2) return std::nullopt;
    const auto row = whole_number(parts.front());
    const auto column = whole_number(parts.back());
    if (!row || !column) return std::nullopt;
    return large::Cell{*row, *column};
}

void describe(Visitor& visit, large::Search& search) {
    constexpr std::string_view kSides[] = {"key", "query"};
    visit("of", search.of, kSides);
    visit("index", search.index,
          {.low = 0.0, .high = static_cast<double>(kMostIndex), .needed = true});
}

void describe(Visitor& visit, large::TopChoice& top) {
    visit("skip_first_key", top.skip_first_key);
    visit("one_per_query", top.one_per_query);
}

void describe(Visitor& visit, MapCamera& camera) {
    constexpr About kNeeded{.needed = true};
    visit("row", camera.row, kNeeded);
    visit("column", camera.column, kNeeded);
    visit("cells_per_unit", camera.cells_per_unit, kNeeded);
    if (!std::isfinite(camera.row) || !std::isfinite(camera.column))
        visit.complain(fmt::format("looks at row {}, column {}: expected finite numbers",
                                   camera.row, camera.column));
    if (!(camera.cells_per_unit > 0.0) || !std::isfinite(camera.cells_per_unit))
        visit.complain(fmt::format("has 'cells_per_unit' = {}: expected a number above 0",
                                   camera.cells_per_unit));
}

void describe(Visitor& visit, MapColors& colors) {
    visit("pooling", colors.pooling, kPoolingNames);
    visit("log_scale", colors.log_scale);
    visit("low_percentile", colors.low_percentile);
    visit("high_percentile", colors.high_percentile);
    const bool valid = colors.low_percentile >= 0.0 &&
                       colors.low_percentile < colors.high_percentile &&
                       colors.high_percentile <= 100.0;
    if (!valid)
        visit.complain(fmt::format("has percentiles {} to {}: expected 0 to 100, ascending",
                                   colors.low_percentile, colors.high_percentile));
}

void describe(Visitor& visit, MapLook& look) {
    visit("camera", look.camera);
    visit("fitted", look.fitted);
    visit("picture", look.picture, kNamesOf<MapPictureOf>);
    visit("colors", look.colors);
    visit("top", look.top);
    std::optional<std::string> go_to;
    if (look.go_to_open) go_to = look.go_to_draft;
    visit("go_to", go_to);
    look.go_to_open = go_to.has_value();
    if (go_to) look.go_to_draft = *go_to;
    visit("full_pass", look.full_pass);
    visit("selected", look.selected);
    visit("search", look.search);
}

large::Head shown_head(const AppState& state) { return {state.batch, state.head}; }

bool is_map_shown(const AppState& state) {
    return map_look(state).own_shown || map_look(state).form != MapForm::own;
}

}  // namespace attn::view
