#include "app/workspaces/large/draw/panel.h"

#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kHeader = 96.0F;
constexpr float kShortHeader = 72.0F;
constexpr float kRuler = 24.0F;
constexpr float kProfile = 40.0F;
constexpr float kShortProfile = 24.0F;
constexpr float kCaptions = 24.0F;
constexpr float kLegend = 56.0F;
constexpr float kGap = 8.0F;
constexpr float kRoomy = 560.0F;  // a lower window gives up some heights
constexpr float kLeastCanvas = 48.0F;
constexpr float kForm = 440.0F;  // width of hint and generator on an empty canvas

/// Where everything stands. Depends on the room alone, never on what is drawn: panning moves nothing.
struct Layout {
    Area header, canvas, row_ruler, column_ruler, row_profile, column_profile, captions, legend;
};

/// Room for the longest label of a ruler of numbers.
float row_ruler_width(const Frame& frame) {
    return frame.text_width(frame.fonts.digits_small, "1,048,576") + frame.px(12);
}

Area rounded(const Area& area) {
    return {{std::round(area.low.x), std::round(area.low.y)},
            {std::round(area.high.x), std::round(area.high.y)}};
}

Layout lay_out(const Frame& frame, const Area& room) {
    const bool roomy = room.height() >= frame.px(kRoomy);
    const float header = frame.px(roomy ? kHeader : kShortHeader);
    const float across = frame.px(kProfile);  // holds a ruler's title too
    const float profile = frame.px(roomy ? kProfile : kShortProfile);
    const float captions = roomy ? frame.px(kCaptions) : frame.fonts.small.px;
    const float top = room.low.y + header + frame.px(kGap);
    Area canvas{{room.low.x + row_ruler_width(frame), top + frame.px(kRuler)},
                {room.high.x - across, room.high.y - profile - captions - frame.px(kLegend)}};
    canvas.high.x = std::max(canvas.high.x, canvas.low.x + frame.px(kLeastCanvas));
    canvas.high.y = std::max(canvas.high.y, canvas.low.y + frame.px(kLeastCanvas));
    canvas = rounded(canvas);
    const float foot = canvas.high.y + profile;
    return {{room.low, {room.high.x, room.low.y + header}},
            canvas,
            {{room.low.x, canvas.low.y}, {canvas.low.x, canvas.high.y}},
            {{canvas.low.x, top}, {canvas.high.x, canvas.low.y}},
            {{canvas.high.x, canvas.low.y}, {canvas.high.x + across, canvas.high.y}},
            {{canvas.low.x, canvas.high.y}, {canvas.high.x, foot}},
            {{canvas.low.x, foot}, {room.high.x, foot + captions}},
            {{canvas.low.x, foot + captions}, {room.high.x, foot + captions + frame.px(kLegend)}}};
}

void say_room(const LargeScene& scene, const Area& canvas) {
    const view::MapCanvas room{canvas.width(), canvas.height(), scene.frame.scale};
    if (!(room == scene.look.canvas)) scene.out.push_back(view::SetMapCanvas{room});
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

/// Without header, profiles and captions.
Layout lay_out_alone(const Frame& frame, const Area& room) {
    const float rows = row_ruler_width(frame);
    const float foot = frame.px(kCaptions + kLegend);
    Area canvas{{room.low.x + rows, room.low.y + frame.px(kRuler)},
                {room.high.x, room.high.y - foot}};
    canvas.high.x = std::max(canvas.high.x, canvas.low.x + frame.px(kLeastCanvas));
    canvas.high.y = std::max(canvas.high.y, canvas.low.y + frame.px(kLeastCanvas));
    canvas = rounded(canvas);
    const float captions = canvas.high.y + frame.px(kCaptions);
    Layout at;
    at.canvas = canvas;
    at.row_ruler = {{room.low.x, canvas.low.y}, {canvas.low.x, canvas.high.y}};
    at.column_ruler = {{canvas.low.x, room.low.y}, {canvas.high.x, canvas.low.y}};
    at.captions = {{canvas.low.x, canvas.high.y}, {canvas.high.x, captions}};
    at.legend = {{canvas.low.x, captions}, {canvas.high.x, captions + frame.px(kLegend)}};
    return at;
}

/// How good the picture is, and how large a cell.
void draw_state(const LargeScene& scene, const Area& line) {
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
void draw_hint(const LargeScene& scene, const Area& room) {
    const Frame& frame = scene.frame;
    const bool fault = !scene.view.fault.empty();
    ImGui::SetCursorScreenPos(room.low);
    wrapped_words(frame, frame.fonts.body, fault ? frame.theme.bad : frame.theme.muted,
                  fault ? scene.view.fault : scene.view.hint);
}

}  // namespace

bool has_map(const view::LargeView& view) {
    return !view.empty && !view.loading && view.fault.empty();
}

void draw_large_map(const LargeScene& scene) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    const Area room{low, {low.x + size.x, low.y + size.y}};
    const Layout at = lay_out(scene.frame, room);
    say_room(scene, at.canvas);
    if (!has_map(scene.view)) return draw_empty(scene, room);
    draw_large_header(scene, at.header);
    draw_rulers(scene, {at.canvas, at.row_ruler, at.column_ruler});
    draw_profiles(scene, {at.row_profile, at.column_profile});
    draw_profile_captions(scene, at.captions);
    draw_map_legend(scene, at.legend);
    draw_map_canvas(scene, at.canvas);
}

void draw_map_alone(const LargeScene& scene) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    const Area room{low, {low.x + size.x, low.y + size.y}};
    const Layout at = lay_out_alone(scene.frame, room);
    say_room(scene, at.canvas);
    if (!has_map(scene.view)) return draw_hint(scene, room);
    draw_rulers(scene, {at.canvas, at.row_ruler, at.column_ruler});
    draw_state(scene, at.captions);
    draw_map_legend(scene, at.legend);
    draw_map_canvas(scene, at.canvas);
}

}  // namespace attn::ui
