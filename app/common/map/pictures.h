#pragma once

#include <span>

#include "app/common/colormap.h"
#include "app/common/map/view.h"
#include "core/large/tiles.h"

namespace attn::view {

struct AppState;

// What lies on the canvas of Long context.

/// The tiles of the picture that is shown, coarse first.
std::span<const std::shared_ptr<const large::Tile>> drawn_tiles(const MapLook& look);
/// The finest level that the canvas shows.
int drawn_level(const MapLook& look);
/// Some of the weights of that level are estimates. Scores never are.
bool is_estimated(const MapLook& look);

/// Rectangle of cells first … first + rows/columns on the canvas.
PixelRect cells_on_canvas(const MapLook& look, large::Cell first, Index rows, Index columns);

/// Whether some of it is seen.
bool is_on_canvas(const MapLook& look, const PixelRect& rect);

std::vector<MapPicture> map_pictures(const AppState& state);
/// Numbers of the exact cells in view, once they fit.
std::vector<MapFigure> map_figures(const AppState& state);
Minimap minimap(const AppState& state);

/// The pooled weight that is drawn at a cell, and of how many cells a side it is made.
struct DrawnWeight {
    double weight = 0.0;  // or score, where those are shown
    Index side = 1;
    bool masked = false;
    bool exact = true;
};
std::optional<DrawnWeight> drawn_weight(const MapLook& look, large::Cell cell);

/// The snapshot's percentiles as a range of colours.
struct WeightRange;
WeightRange range_in_view(const MapLook& look, ColorMap map = ColorMap::violet);
/// The same of the scores: ± this.
double score_range_in_view(const MapLook& look);

}  // namespace attn::view
