#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/parts.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kHeader = 96.0F, kShortHeader = 76.0F, kProfile = 40.0F, kShortProfile = 24.0F,
                kLowProfile = 12.0F, kLegend = 56.0F;
constexpr float kRoomy = 560.0F, kLowMap = 360.0F;  // a lower window gives up some heights
constexpr float kQuality = 24.0F, kPass = 52.0F;    // of a low one: its header
constexpr float kForm = 440.0F;  // width of hint and generator on an empty canvas

/// Where everything stands.
struct Layout {
    Area header;
    Rulers map;
    Area row_profile, column_profile, captions, legend;
};

/// In a low window the map has the room of what its tooltips say too.
Layout lay_out(const Frame& frame, const Area& room, bool pass_done) {
    const bool roomy = room.height() >= frame.px(kRoomy);
    const bool low = room.height() < frame.px(kLowMap);
    const float header = frame.px(low     ? pass_done ? kQuality : kPass
                                  : roomy ? kHeader
                                          : kShortHeader);
    const float across = frame.px(kProfile);  // holds a ruler's title too
    const float profile = frame.px(roomy ? kProfile : low ? kLowProfile : kShortProfile);
    const float captions = roomy ? frame.px(kTitleRow) : low ? 0.0F : frame.fonts.small.px;
    const float top = room.low.y + header + frame.px(kSpace8);
    const Rulers map = place_map(
        frame, {{room.low.x, top},
                {room.high.x - across, room.high.y - profile - captions - frame.px(kLegend)}});
    const Area& canvas = map.canvas;
    const float foot = canvas.high.y + profile;
    return {{room.low, {room.high.x, room.low.y + header}},
            map,
            {{canvas.high.x, canvas.low.y}, {canvas.high.x + across, canvas.high.y}},
            {{canvas.low.x, canvas.high.y}, {canvas.high.x, foot}},
            {{canvas.low.x, foot}, {room.high.x, foot + captions}},
            {{canvas.low.x, foot + captions}, {room.high.x, foot + captions + frame.px(kLegend)}}};
}

/// Two buttons with their keys, then what would be generated.
void draw_ways(const LargeScene& scene) {
    const Frame& frame = scene.frame;
    draw_open_button(scene);
    ImGui::SameLine();
    words(frame, frame.fonts.small, frame.theme.muted, "Ctrl+O, or drop a file on the window");
    ImGui::Dummy({1.0F, frame.px(8)});
    wrapped_words(frame, frame.fonts.small, frame.theme.muted,
                  "Or generate; Ctrl+K finds “Generate” with every size.");
    draw_generator(scene);
}

/// What to do or what is being done, in the middle; the generator below while nothing is on the way.
void draw_empty(const LargeScene& scene, const Area& room) {
    const Frame& frame = scene.frame;
    const float width = std::min(frame.px(kForm), room.width());
    const float form = scene.view.loading ? frame.px(48) : frame.px(344);
    const float y = std::max(room.low.y, (room.low.y + room.high.y - form) * 0.5F);
    ImGui::SetCursorScreenPos({std::round((room.low.x + room.high.x - width) / 2), std::round(y)});
    ImGui::BeginChild("empty", {width, room.high.y - y});
    wrapped_words(frame, frame.fonts.title, frame.theme.text, scene.view.title);
    wrapped_words(frame, frame.fonts.body, frame.theme.bad, scene.view.fault);
    wrapped_words(frame, frame.fonts.body, frame.theme.muted, scene.view.hint);
    ImGui::Dummy({1.0F, frame.px(8)});
    if (!scene.view.loading) draw_ways(scene);
    ImGui::EndChild();
}

void draw_large_bar(const view::LargeView& view, const view::MapLook& look, ControlBar& bar) {
    const LargeScene scene{view, look, bar.frame, bar.out};
    if (bar.take(button_width(bar.frame, "Open a file"))) draw_open_button(scene);
    if (bar.take(generate_width(scene))) draw_generate_button(scene);
}

}  // namespace

void draw_large_map(const LargeScene& scene) {
    const Area room = room_left();
    const Layout at = lay_out(scene.frame, room, scene.view.pass.done);
    say_room(scene, at.map.canvas);
    if (!has_map(scene.view)) return draw_empty(scene, room);
    draw_large_header(scene, at.header);
    draw_rulers(scene, at.map);
    draw_profiles(scene, {at.row_profile, at.column_profile});
    if (at.captions.height() > 0.0F) draw_profile_captions(scene, at.captions);
    draw_map_legend(scene, at.legend);
    say_hovered(scene, draw_map_canvas(scene, at.map.canvas));
}

std::string draw_large_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const view::LargeView view = build_large_view(state);
    const view::MapLook& look = view::map_look(state);
    Parts parts{.hero = {"map", "map",
                         [&](const Box&) {
                             draw_large_map({view, look, frame, out});
                         }},
                .side = [&](const Frame& beside) {
                    draw_large_side({view, look, beside, out});
                }};
    if (has_map(view)) {
        parts.heading.headline = view.title;
        parts.controls = [&](ControlBar& bar) { draw_large_bar(view, look, bar); };
        parts.heading.why = view.bottom_line;
        parts.status = view.bottom_line.substr(0, view.bottom_line.find(';'));
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kLargePanel;
const WorkspacePanel kLargePanel{"large", draw_large_workspace};

}  // namespace attn::ui
