#pragma once

#include <optional>
#include <string_view>

#include "app/common/map/state.h"

namespace attn::view {

// Where Long context's camera stands: pure functions of the look. Canvas pixels are counted from
// its top left corner; cell j reaches from j to j + 1 in cell coordinates.

/// Design units of a cell at which its number fits, and the closest that the camera comes.
inline constexpr double kFigureCell = 44.0;
inline constexpr double kLargestCell = 64.0;

MapSize map_size(const MapLook& look);

/// The panel's room; a usual one before the panel said so.
MapCanvas canvas_of(const MapLook& look);

/// What this canvas shows: the whole matrix while `fitted`, else the nearest to `look.camera` that is allowed here.
MapCamera shown_camera(const MapLook& look);
double cells_per_pixel(const MapLook& look);
/// The same of one axis. Few rows are higher than their cells are wide, few columns wider; on a map of tiles, whose texels are
/// square, both are equal.
double rows_per_pixel(const MapLook& look);
double columns_per_pixel(const MapLook& look);

/// The whole matrix in view.
MapCamera fitted_camera(const MapLook& look);
/// The nearest camera that is allowed: between the whole matrix and kLargestCell, its middle within
/// the matrix. As it is while there is no matrix.
MapCamera clamped(const MapLook& look, MapCamera camera);
/// factor > 1: closer, so that the cell under (x, y) stays there.
MapCamera zoomed_about(const MapLook& look, double x, double y, double factor);
MapCamera zoomed(const MapLook& look, double factor);  // about the middle
/// The matrix follows a hand that moved by (dx, dy) pixels.
MapCamera panned(const MapLook& look, double dx, double dy);
/// The camera moved to where the minimap was pressed, 0…1 in both directions.
MapCamera centred_at(const MapLook& look, double across, double down);
/// Close enough to read the cell, which stands in the middle. The same on every canvas.
MapCamera camera_at(large::Cell cell);
/// The camera shows the whole matrix and should follow the canvas.
bool is_fit(const MapLook& look, const MapCamera& camera);

double x_of(const MapLook& look, double column);
double y_of(const MapLook& look, double row);
double column_at(const MapLook& look, double x);
double row_at(const MapLook& look, double y);

/// The finest level whose texels are at least one pixel wide: nearest sampling then drops none.
int tile_level(const MapLook& look);

bool has_map_cell(const MapLook& look, large::Cell cell);
/// Whether the matrix has the row or column that is searched.
bool has_search(const MapLook& look, const large::Search& search);
/// "70001, 5" · "70,001 → 5" · "70001" for the cell of a token with itself. Commas part the numbers
/// unless something else does; then they part thousands. nullopt when it is neither.
std::optional<large::Cell> parse_map_cell(std::string_view text);

}  // namespace attn::view
