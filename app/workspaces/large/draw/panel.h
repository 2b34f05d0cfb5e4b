#pragma once

#include "app/common/map/draw/parts.h"

namespace attn::ui {

/// Whether there is a matrix to look at; else there is no side panel either.
bool has_map(const view::LargeView& view);

/// The Large workspace without its side panel, filling the current window: header, rulers, canvas,
/// profiles, legend; while there is no matrix, the way to one.
void draw_large_map(const LargeScene& scene);
/// The map alone, filling the current window: rulers, canvas, legend, how good it is.
void draw_map_alone(const LargeScene& scene);
/// Its side panel, filling the current window: minimap, colours, ways to a cell, the selected cell's
/// arithmetic, lists of cells, generator. Scrolls where it does not fit.
void draw_large_side(const LargeScene& scene);

}  // namespace attn::ui
