#pragma once

#include "app/common/document/actions.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/large/state.h"
#include "app/workspaces/large/view.h"

namespace attn::ui {

/// What every part of the workspace is given; the map's parts take it as theirs.
struct LargeScene {
    const view::LargeView& view;
    const view::MapLook& look;
    const Frame& frame;
    view::Actions& out;
    operator MapScene() const { return {view, look, frame, out}; }  // NOLINT: converts
};

/// The hero, filling the current window: header, rulers, canvas, profiles, legend; while there is no matrix, the way to one.
void draw_large_map(const LargeScene& scene);
/// The side panel, filling the current window: minimap, colours, ways to a cell, the selected cell's
/// arithmetic, lists of cells, generator. Scrolls where it does not fit.
void draw_large_side(const LargeScene& scene);

/// Quality, zoom; the exact pass; and, where it has room, the roofline.
void draw_large_header(const LargeScene& scene, const Area& area);
/// The generator's settings and the button that makes the matrix.
void draw_generator(const LargeScene& scene);
/// The two ways to another matrix.
void draw_open_button(const LargeScene& scene);
void draw_generate_button(const LargeScene& scene);
float generate_width(const LargeScene& scene);

}  // namespace attn::ui
