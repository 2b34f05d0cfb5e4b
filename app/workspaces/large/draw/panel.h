#pragma once

#include "app/common/draw/parts.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/large/state.h"
#include "app/workspaces/large/view.h"

namespace attn::ui {

/// What every part of the workspace is given; the map's parts take it as theirs.
struct LargeScene {
    const LargeView& view;
    const MapLook& look;
    const Frame& frame;
    Actions& out;
    operator MapScene() const { return {view, look, frame, out}; }  // NOLINT: converts
};

/// The hero, filling the current window: header, rulers, canvas, profiles, legend, and what is left of it at the right;
/// while there is no matrix, the way to one.
std::optional<Box> draw_large_map(const LargeScene& scene);
/// The side panel, filling the current window: minimap, ways to a cell, the selected cell's arithmetic. Scrolls where it
/// does not fit.
void draw_large_side(const LargeScene& scene);
/// The strongest cells in view and, where it has room, the roofline.
void draw_large_cells(const LargeScene& scene, const Box& box);
/// What is drawn and how it is coloured; behind it, what the generator would make.
void draw_large_bar(const LargeView& view, const MapLook& look, ControlBar& bar);

/// In one line: quality, the exact pass, zoom.
void draw_large_header(const LargeScene& scene, const Area& line);
void draw_roofline(const RooflineView& roofline, const Area& area, const Frame& frame);
/// The two ways to another matrix.
void draw_open_button(const LargeScene& scene);
void draw_generate_button(const LargeScene& scene);

}  // namespace attn::ui
