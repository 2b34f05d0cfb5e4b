#pragma once

#include <imgui.h>

#include <optional>
#include <span>

#include "app/common/draw/frame.h"
#include "app/common/draw/workspace.h"
#include "app/common/grid.h"
#include "app/common/map/view.h"

namespace attn::view {
struct MapCamera;
struct MapLook;
}  // namespace attn::view

namespace attn::ui {

/// What every part of the map is given. The look says where the camera stands: a gesture starts from there.
struct MapScene {
    const MapView& view;
    const MapLook& look;
    const Frame& frame;
    Actions& out;
};

/// A rectangle on screen, in whole pixels.
struct Area {
    ImVec2 low, high;
    float width() const { return high.x - low.x; }
    float height() const { return high.y - low.y; }
    ImVec2 size() const { return {width(), height()}; }
};

/// Pictures, figures, outlines, marks; wheel, drag, click, double click. Returns the cell under the pointer.
std::optional<large::Cell> draw_map_canvas(const MapScene& scene, const Area& canvas);
/// The map is told of the cell under the pointer.
void show_hovered(const MapScene& scene, const std::optional<large::Cell>& under);

/// The camera stands there from now on.
void move_map(const MapScene& scene, const MapCamera& camera);

/// Ruler marks beside the canvas, and what stands where both rulers meet and end.
struct Rulers {
    Area canvas, rows, columns;
    float beyond = 0.0F;  // room for the title of the columns, right of them
};
void draw_rulers(const MapScene& scene, const Rulers& rulers);
/// Bars right of the canvas and below it.
struct Profiles {
    Area rows, columns;
};
void draw_profiles(const MapScene& scene, const Profiles& profiles);
/// What the bars are, in one line.
void draw_profile_captions(const MapScene& scene, const Area& line);
/// The colour bar with its ticks, what is masked, what the colours mean: so high beneath a map, in the lowest windows so
/// wide beside it, in design units.
inline constexpr float kLegendBelow = 56.0F, kLegendBeside = 168.0F;
void draw_map_legend(const MapScene& scene, const Area& area);

/// The whole matrix, small; pressing or dragging it moves the camera.
void draw_minimap(const MapScene& scene, const Area& area);

/// Whether there is a matrix to look at.
bool has_map(const MapView& view);
/// The canvas, with its rulers at the left and above, in all of `room`. Depends on the room alone, never on what is
/// drawn: panning moves nothing.
/// `upright`: columns that are too narrow for their tokens have them upright, in a higher ruler.
Rulers place_map(const Frame& frame, const Area& space, bool upright = false);
/// Tells the map how large its canvas is.
void report_canvas_size(const MapScene& scene, const Area& canvas);
/// What of the current window is not filled yet.
Area space_left();
/// The map alone, filling the current window: rulers, canvas, legend, how good it is.
void draw_map_alone(const MapScene& scene);

/// Maps of one size beside each other under one camera, their rows named once. What is done with a cell is the
/// workspace's to say.
struct MapsPointed {
    std::optional<large::Cell> clicked, hovered;
};
MapsPointed draw_maps(std::span<const MapView> maps, const MapLook& look, const Box& box,
                      const Frame& frame, Actions& out);
/// Grids without cells that have their titles, for the tabs of a low window.
std::vector<GridView> titles_of(const std::vector<MapView>& maps);

}  // namespace attn::ui
