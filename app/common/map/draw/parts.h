#pragma once

#include <imgui.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/map/actions.h"
#include "app/common/map/view.h"

namespace attn::ui {

/// What every part of the Large workspace is given. The look says where the camera stands: a gesture
/// starts from there.
struct LargeScene {
    const view::LargeView& view;
    const view::MapLook& look;
    const Frame& frame;
    view::Actions& out;
};

/// A rectangle on screen, in whole pixels.
struct Area {
    ImVec2 low, high;
    float width() const { return high.x - low.x; }
    float height() const { return high.y - low.y; }
    ImVec2 size() const { return {width(), height()}; }
};

/// Title, quality, zoom; the exact pass; and, where it has room, the roofline.
void draw_large_header(const LargeScene& scene, const Area& area);
/// Peak, bandwidth and what was reached, log-log; a tooltip shows it large.
void draw_roofline(const view::RooflineView& roofline, const Area& area, const Frame& frame);

/// Pictures, figures, outlines, marks; wheel, drag, click, double click.
void draw_map_canvas(const LargeScene& scene, const Area& canvas);

/// Ruler marks beside the canvas, and what stands where both rulers meet and end.
struct Rulers {
    Area canvas, rows, columns;
};
void draw_rulers(const LargeScene& scene, const Rulers& rulers);
/// Bars right of the canvas and below it.
struct Profiles {
    Area rows, columns;
};
void draw_profiles(const LargeScene& scene, const Profiles& profiles);
/// What the bars are, in one line.
void draw_profile_captions(const LargeScene& scene, const Area& line);
/// The colour bar with its ticks, what is masked, what the colours mean.
void draw_map_legend(const LargeScene& scene, const Area& area);

/// The whole matrix, small; pressing or dragging it moves the camera.
void draw_minimap(const LargeScene& scene, const Area& area);
/// The generator's settings and the button that makes the matrix.
void draw_generator(const LargeScene& scene);
/// The two ways to another matrix.
void draw_open_button(const LargeScene& scene);
void draw_generate_button(const LargeScene& scene);
float generate_width(const LargeScene& scene);

}  // namespace attn::ui
