#include "app/common/document/document.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/map/ruler.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kHeader = 34.0F, kLowHeader = 26.0F, kProfile = 40.0F, kLowProfile = 24.0F;
constexpr float kSpacious = 480.0F;  // a lower map gives up some heights
constexpr float kForm = 440.0F;      // width of the hint on an empty canvas
constexpr float kLeastCells = 200.0F, kMostCells = 720.0F;
constexpr float kLeastAspect = 0.5F;  // width to height of a canvas, of few keys
constexpr Index kFewKeys = 128;

/// Where everything stands.
struct Layout {
    Area header;
    Rulers map;
    Area row_profile, column_profile, captions, legend;
};

/// `widest`, `highest`: of the canvas.
Layout lay_out(const Frame& frame, const MapLook& look, const Area& space, float widest,
               float highest) {
    const bool spacious = space.height() >= frame.px(kSpacious);
    const bool beside = is_lower_than(kLowestWindow, frame) && space.width() > space.height();
    const float across = frame.px(kProfile);  // holds a ruler's title too
    const float profile = frame.px(spacious ? kProfile : kLowProfile);
    const float captions = spacious ? frame.px(kTitleRow) : 0.0F;  // their tooltips say the same
    const float top = space.low.y + frame.px(beside ? kLowHeader : kHeader);
    const float right = frame.px(beside ? kLegendBeside : 0.0F);
    const float below = frame.px(beside ? 0.0F : kLegendBelow);
    Rulers map =
        place_map(frame,
                  {{space.low.x, top},
                   {space.high.x - across - right, space.high.y - profile - captions - below}},
                  spacious && view::has_upright_tokens(
                                  look, std::min(space.width(), space.height()) / frame.scale));
    auto& [low, high] = map.canvas;
    high.x = map.columns.high.x = std::min(high.x, low.x + widest);
    high.y = map.rows.high.y = std::min(high.y, low.y + highest);
    map.beyond = across;
    const float bottom = high.y + profile, end = high.x + across;
    const Area under{{low.x, bottom + captions}, {space.high.x, bottom + captions + below}};
    const Area aside{{end + frame.px(kSpace16), low.y}, {space.high.x, high.y}};
    return {{space.low, {space.high.x, top}},
            map,
            {{high.x, low.y}, {end, high.y}},
            {{low.x, high.y}, {high.x, bottom}},
            {{low.x, bottom}, {end, bottom + captions}},
            beside ? aside : under};
}

/// What the whole matrix takes.
float matrix_width(const MapLook& look, const Area& canvas) {
    const auto rows = static_cast<float>(std::max<Index>(look.size.rows, 1));
    return canvas.height() * static_cast<float>(look.size.columns) / rows;
}

/// As wide as a matrix of few keys, which is seen whole: more would stay empty, between it and its labels.
Layout filled_layout(const MapLook& look, const Area& space, const Frame& frame) {
    const Layout at = lay_out(frame, look, space, space.width(), space.height());
    const Area& canvas = at.map.canvas;
    const float highest =  // a figure has no more than the matrix
        frame.is_canvas_alone()
            ? std::round(canvas.width() * canvas.height() / matrix_width(look, canvas))
            : space.height();
    if (look.size.columns > kFewKeys) return lay_out(frame, look, space, space.width(), highest);
    const float least = std::max(kLeastAspect * canvas.height(), frame.px(kLeastCells));
    return lay_out(frame, look, space, std::round(std::max(matrix_width(look, canvas), least)),
                   highest);
}

/// Right of the map and beneath a legend there.
Box box_beside(const Layout& at, const Area& space, const Frame& frame) {
    const bool legend = at.legend.low.y <= at.map.canvas.low.y;
    return {{at.row_profile.high.x + frame.px(kSpace24),
             legend ? at.legend.low.y + frame.px(kLegendBelow) : at.header.high.y},
            space.high};
}

/// What it leaves of the width.
float cells_width(const MapLook& look, ImVec2 space, const Frame& frame) {
    const Area canvas = lay_out(frame, look, {{0.0F, 0.0F}, space}, space.x, space.y).map.canvas;
    const float width = matrix_width(look, canvas);
    return within(canvas.width() - width - frame.px(kSpace24), frame.px(kLeastCells),
                  frame.px(kMostCells));
}

/// Two buttons with their keys.
void draw_variants_to_load(const LargeScene& scene) {
    const Frame& frame = scene.frame;
    draw_open_button(scene);
    ImGui::SameLine();
    put_text(frame, frame.fonts.small, frame.theme.muted, "Ctrl+O, or drop a file on the window");
    leave_space({1.0F, frame.px(8)});
    draw_generate_button(scene);
    ImGui::SameLine();
    put_text(frame, frame.fonts.small, frame.theme.muted, "as the bar above says");
}

/// What to do or what is being done, in the middle.
void draw_empty(const LargeScene& scene, const Area& space) {
    const Frame& frame = scene.frame;
    const float width = std::min(frame.px(kForm), space.width());
    const float form = scene.view.loading ? frame.px(48) : frame.px(160);
    const float y = std::max(space.low.y, (space.low.y + space.high.y - form) * 0.5F);
    ImGui::SetCursorScreenPos(
        {std::round((space.low.x + space.high.x - width) / 2), std::round(y)});
    begin_child("empty", {width, space.high.y - y});
    wrapped_text(frame, frame.fonts.title, frame.theme.text, scene.view.title);
    wrapped_text(frame, frame.fonts.body, frame.theme.bad, scene.view.fault);
    wrapped_text(frame, frame.fonts.body, frame.theme.muted, scene.view.hint);
    leave_space({1.0F, frame.px(8)});
    if (!scene.view.loading) draw_variants_to_load(scene);
    ImGui::EndChild();
}

/// Whether in a low window, which has one part at a time, the strongest cells stand beside the matrix all the same.
bool has_space_beside(const MapLook& look, const WorkArea& r, const Frame& frame) {
    if (!is_lower_than(kLowWindow, frame)) return false;
    const ImVec2 work = r.work.size();
    const Area space{{0.0F, 0.0F},
                     {work.x - 2.0F * r.margin - r.inspector - r.drawer,
                      work.y - bar_height(frame) - heading_height(frame)}};
    return box_beside(filled_layout(look, space, frame), space, frame).size().x >=
           frame.px(kLeastCells);
}

}  // namespace

std::optional<Box> draw_large_map(const LargeScene& scene) {
    const Area space = space_left();
    const bool shown = has_map(scene.view);
    const Layout at = shown
                          ? filled_layout(scene.look, space, scene.frame)
                          : lay_out(scene.frame, scene.look, space, space.width(), space.height());
    report_canvas_size(scene, at.map.canvas);
    if (!shown) {
        draw_empty(scene, space);
        return std::nullopt;
    }
    draw_large_header(scene, at.header);
    draw_rulers(scene, at.map);
    draw_profiles(scene, {at.row_profile, at.column_profile});
    if (at.captions.height() > 0.0F) draw_profile_captions(scene, at.captions);
    draw_map_legend(scene, at.legend);
    show_hovered(scene, draw_map_canvas(scene, at.map.canvas));
    return box_beside(at, space, scene.frame);
}

std::string draw_large_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                 Actions& out) {
    const LargeView view = build_large_view(state);
    const MapLook& look = view::map_look(state);
    const auto cells = [&](const Box& box) {
        draw_large_cells({view, look, around(frame), out}, box);
    };
    const bool in_hero = has_map(view) && r.chrome && has_space_beside(look, r, frame);
    Parts parts{.hero = {"map", "map",
                         [&](const Box&) {
                             const auto rest = draw_large_map({view, look, frame, out});
                             if (rest && in_hero) panel("cells", *rest, [&] { cells(*rest); });
                         }},
                .side = [&](const Frame& beside) {
                    draw_large_side({view, look, beside, out});
                }};
    parts.controls = [&](ControlBar& bar) { draw_large_bar(view, look, bar); };
    if (has_map(view)) {
        parts.heading.headline = view.point.empty() ? view.title : view.point;
        if (!view.point.empty()) parts.heading.muted = view.title + ".";
        if (r.chrome && !in_hero)
            parts.others = {{"cells", "strongest cells", cells, CanvasPart::Where::right, 0.0F,
                             [&](ImVec2 space) { return cells_width(look, space, frame); }}};
        parts.heading.why = view.bottom_line;
        parts.status = view.bottom_line.substr(0, view.bottom_line.find(" ("));
    }
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kLargePanel{"large", draw_large_workspace};

}  // namespace attn::ui
