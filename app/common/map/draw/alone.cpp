#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/map/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRuler = 24.0F;
constexpr float kCaptions = 24.0F;
constexpr float kLegend = 56.0F;
constexpr float kLeastCanvas = 48.0F;
constexpr float kGap = 8.0F;

/// How good the picture is, and how large a cell.
void draw_state(const MapScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const view::Theme& theme = frame.theme;
    const view::Color ink = scene.view.flawed    ? theme.bad
                            : scene.view.sampled ? theme.warning
                                                 : theme.muted;
    const Font& font = frame.fonts.small;
    const float zoom = frame.text_width(font, scene.view.zoom_words) + frame.px(kGap);
    draw_text_in(frame, font, line.low, line.high, Align::left, ink,
                 fit_text(frame, font, scene.view.quality, line.width() - zoom));
    draw_text_in(frame, font, line.low, line.high, Align::right, theme.muted,
                 scene.view.zoom_words);
}

/// Why there is no map yet.
void draw_hint(const MapScene& scene, const Area& room) {
    const Frame& frame = scene.frame;
    const bool fault = !scene.view.fault.empty();
    ImGui::SetCursorScreenPos(room.low);
    wrapped_words(frame, frame.fonts.body, fault ? frame.theme.bad : frame.theme.muted,
                  fault ? scene.view.fault : scene.view.hint);
}

}  // namespace

bool has_map(const view::MapView& view) {
    return !view.empty && !view.loading && view.fault.empty();
}

Rulers place_map(const Frame& frame, const Area& room) {
    const float label = frame.text_width(frame.fonts.digits_small, "1,048,576");  // the longest
    const ImVec2 low{room.low.x + label + frame.px(12), room.low.y + frame.px(kRuler)};
    const float least = frame.px(kLeastCanvas);
    const Area canvas{{std::round(low.x), std::round(low.y)},
                      {std::round(std::max(room.high.x, low.x + least)),
                       std::round(std::max(room.high.y, low.y + least))}};
    return {canvas,
            {{room.low.x, canvas.low.y}, {canvas.low.x, canvas.high.y}},
            {{canvas.low.x, room.low.y}, {canvas.high.x, canvas.low.y}}};
}

void say_room(const MapScene& scene, const Area& canvas) {
    const view::MapCanvas room{canvas.width(), canvas.height(), scene.frame.scale};
    if (!(room == scene.look.canvas)) scene.out.push_back(view::SetMapCanvas{room});
}

Area room_left() {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    return {low, {low.x + size.x, low.y + size.y}};
}

void draw_map_alone(const MapScene& scene) {
    const Frame& frame = scene.frame;
    const Area room = room_left();
    const Rulers at =
        place_map(frame, {room.low, {room.high.x, room.high.y - frame.px(kCaptions + kLegend)}});
    say_room(scene, at.canvas);
    if (!has_map(scene.view)) return draw_hint(scene, room);
    const ImVec2 foot{at.canvas.low.x, at.canvas.high.y + frame.px(kCaptions)};
    draw_rulers(scene, at);
    draw_state(scene, {{foot.x, at.canvas.high.y}, {at.canvas.high.x, foot.y}});
    draw_map_legend(scene, {foot, {at.canvas.high.x, foot.y + frame.px(kLegend)}});
    draw_map_canvas(scene, at.canvas);
}

}  // namespace attn::ui
