
#include "app/common/map/draw/parts.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/heading.h"
#include "app/common/draw/items.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/map_cell.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kRuler = 24.0F, kWordRuler = 72.0F, kLeastCanvas = 48.0F;
constexpr double kLeastAspect = 0.5;  // height to width of a canvas, of few queries

/// How good the picture is, and how large a cell.
void draw_state(const MapScene& scene, const Area& line) {
    const Frame& frame = scene.frame;
    const Theme& theme = frame.theme;
    const Color ink = scene.view.flawed    ? theme.bad
                      : scene.view.sampled ? theme.warning
                                           : theme.muted;
    const Font& font = frame.fonts.small;
    const float zoom = frame.text_width(font, scene.view.zoom_text) + frame.px(kSpace8);
    draw_text_in(frame, font, line.low, line.high, Align::left, ink,
                 fit_text(frame, font, scene.view.quality, line.width() - zoom));
    draw_text_in(frame, font, line.low, line.high, Align::right, theme.muted, scene.view.zoom_text);
}

/// Why there is no map yet.
void draw_hint(const MapScene& scene, const Area& space) {
    const Frame& frame = scene.frame;
    const bool fault = !scene.view.fault.empty();
    ImGui::SetCursorScreenPos(space.low);
    wrapped_text(frame, frame.fonts.body, fault ? frame.theme.bad : frame.theme.muted,
                 fault ? scene.view.fault : scene.view.hint);
}

/// What is over the lines under a map, and left of a legend beside it.
Area without_legend(const Frame& frame, const Area& space, bool beside) {
    const float below = kTitleRow + (beside ? 0.0F : kLegendBelow);
    return {
        space.low,
        {space.high.x - frame.px(beside ? kLegendBeside : 0.0F), space.high.y - frame.px(below)}};
}

/// What the whole matrix takes of a canvas so wide: more would stay empty.
float filled_height(const MapSize& size, float width) {
    const double aspect =
        static_cast<double>(size.rows) / static_cast<double>(std::max<Index>(size.columns, 1));
    return std::round(width * static_cast<float>(std::max(aspect, kLeastAspect)));
}

/// Rulers, canvas, legend, how good it is; the cell under the pointer.
std::optional<large::Cell> draw_framed(const MapScene& scene, const Rulers& at, bool beside) {
    const Frame& frame = scene.frame;
    const auto& [low, high] = at.canvas;
    const float bottom = high.y + frame.px(kTitleRow);
    draw_rulers(scene, at);
    draw_state(scene, {{low.x, high.y}, {high.x, bottom}});
    if (beside)
        draw_map_legend(scene, {{high.x + frame.px(kSpace16), low.y},
                                {high.x + frame.px(kLegendBeside), high.y}});
    else
        draw_map_legend(scene, {{low.x, bottom}, {high.x, bottom + frame.px(kLegendBelow)}});
    return draw_map_canvas(scene, at.canvas);
}

// ---- the legend

// Design units.
constexpr float kBarWidth = 320.0F, kBarHeight = 10.0F, kSwatch = 12.0F;

/// Labels below the bar, kept within its ends; one that would touch the one before is left out.
void draw_ticks(const MapLegend& legend, const Area& bar, const Frame& frame) {
    const Font& font = frame.fonts.digits_small;
    float taken = bar.low.x - frame.px(100);
    for (const MapLegend::Tick& tick : legend.ticks) {
        const float x = std::round(bar.low.x + bar.width() * static_cast<float>(tick.at));
        const float width = frame.text_width(font, tick.label);
        const float left = within(x - width / 2, bar.low.x, bar.high.x - width);
        frame.painter.line({x, bar.high.y}, {x, bar.high.y + frame.px(3)}, frame.theme.muted,
                           frame.px(1));
        if (left < taken + frame.px(8)) continue;
        taken = left + width;
        frame.painter.text(font, {left, bar.high.y + frame.px(5)}, frame.theme.muted, tick.label);
    }
}

/// A look that the bar does not have, and its name; returns where the next one starts.
float draw_swatch(const std::string& name, Color color, const Area& place, const Frame& frame) {
    if (name.empty()) return place.low.x;
    const float side = frame.px(kSwatch);
    const float left = place.low.x + side + frame.px(6);
    const std::string text = fit_text(frame, frame.fonts.small, name, place.high.x - left);
    const ImVec2 low{place.low.x, std::round((place.low.y + place.high.y - side) / 2)};
    if (text.empty() || left > place.high.x) return place.low.x;
    const ImVec2 high{low.x + side, low.y + side};
    frame.painter.rect(low, high, color);
    frame.painter.outline(low, high, frame.theme.muted, 1.0F);
    draw_text_in(frame, frame.fonts.small, {left, low.y}, {place.high.x, high.y}, Align::left,
                 frame.theme.muted, text);
    return left + frame.text_width(frame.fonts.small, text) + frame.px(16);
}

/// What is not finite first: it is what must not be missed. Right of the bar, or beneath its ticks.
void draw_swatches(const MapLegend& legend, const Area& bar, float right, const Frame& frame) {
    Area place{{bar.high.x + frame.px(24), bar.low.y}, {right, bar.high.y}};
    if (place.low.x >= right)
        place = {{bar.low.x, bar.high.y + frame.px(kTitleRow)},
                 {right, bar.high.y + frame.px(kTitleRow + kSwatch)}};
    place.low.x = draw_swatch(legend.nan, legend.nan_color, place, frame);
    place.low.x = draw_swatch(legend.infinite, legend.infinite_color, place, frame);
    draw_swatch(legend.masked, legend.masked_color, place, frame);
}

// ---- the minimap

constexpr float kLeastView = 5.0F;  // px of the view's rectangle, however deep the zoom

/// The matrix in its own proportions, in the middle of the area.
Area fitted(const PixelRect& matrix, const Area& area) {
    const double width = matrix.right - matrix.left;
    const double height = matrix.bottom - matrix.top;
    if (width <= 0.0 || height <= 0.0) return area;
    const double scale = std::min(area.width() / width, area.height() / height);
    const float w = std::max(8.0F, static_cast<float>(width * scale));
    const float h = std::max(8.0F, static_cast<float>(height * scale));
    const ImVec2 low{area.low.x, area.low.y + (area.height() - h) / 2};
    return {low, {low.x + w, low.y + h}};
}

void draw_view(const MapScene& scene, const Area& map) {
    const PixelRect& seen = scene.view.minimap.view;
    const auto span = [&](double from, double to, float low, float high) {
        const double length = high - low;
        const double middle = within((from + to) / 2, 0.0, 1.0) * length;
        const double half = std::max((to - from) / 2 * length, 0.5 * scene.frame.px(kLeastView));
        const auto at = [&](double x) { return low + static_cast<float>(within(x, 0.0, length)); };
        return std::pair{at(middle - half), at(middle + half)};
    };
    const auto [left, right] = span(seen.left, seen.right, map.low.x, map.high.x);
    const auto [top, bottom] = span(seen.top, seen.bottom, map.low.y, map.high.y);
    scene.frame.painter.outline({left - 1, top - 1}, {right + 1, bottom + 1},
                                scene.frame.theme.background, scene.frame.px(3));
    scene.frame.painter.outline({left, top}, {right, bottom}, scene.frame.theme.accent,
                                scene.frame.px(1.5F));
}

/// An arrow moves the view by half of what is seen.
void read_keys(const MapScene& scene) {
    const auto step = [&](Key back, Key on) {
        const bool forth = take_key(scene.frame, on, true);
        return (take_key(scene.frame, back, true) ? -0.5 : 0.0) + (forth ? 0.5 : 0.0);
    };
    const double across = step(Key::left, Key::right);
    const double down = step(Key::up, Key::down);
    if (across == 0.0 && down == 0.0) return;
    const MapCanvas space = view::canvas_of(scene.look);
    const MapCamera camera = view::panned(scene.look, -across * space.width, -down * space.height);
    move_map(scene, camera);
}

void read_press(const MapScene& scene, const Area& map) {
    ImGui::SetCursorScreenPos(map.low);
    invisible_button("minimap", map.size());
    tooltip(scene.frame, "The whole matrix",
            "Press or drag to move there, or use the arrow keys.  Key F: the whole matrix.");
    if (focus_stop(scene.frame)) read_keys(scene);
    if (!ImGui::IsItemActive()) return;
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto share = [](float at, float low, float high) {
        return within(static_cast<double>((at - low) / (high - low)), 0.0, 1.0);
    };
    const MapCamera camera = view::centred_at(scene.look, share(mouse.x, map.low.x, map.high.x),
                                              share(mouse.y, map.low.y, map.high.y));
    move_map(scene, camera);
}

}  // namespace

void move_map(const MapScene& scene, const MapCamera& camera) {
    if (!(camera == view::shown_camera(scene.look)))
        scene.out.push_back(view::moved_map(scene.look, camera));
}

bool has_map(const MapView& view) { return !view.empty && !view.loading && view.fault.empty(); }

Rulers place_map(const Frame& frame, const Area& space, bool upright) {
    const float label = frame.text_width(frame.fonts.digits_small, "1,048,576");  // the longest
    const ImVec2 low{space.low.x + label + frame.px(12),
                     space.low.y + frame.px(upright ? kWordRuler : kRuler)};
    const float least = frame.px(kLeastCanvas);
    const Area canvas{{std::round(low.x), std::round(low.y)},
                      {std::round(std::max(space.high.x, low.x + least)),
                       std::round(std::max(space.high.y, low.y + least))}};
    return {canvas,
            {{space.low.x, canvas.low.y}, {canvas.low.x, canvas.high.y}},
            {{canvas.low.x, space.low.y}, {canvas.high.x, canvas.low.y}}};
}

void report_canvas_size(const MapScene& scene, const Area& canvas) {
    const MapCanvas space{canvas.width(), canvas.height(), scene.frame.scale};
    if (!(space == scene.look.canvas)) scene.out.push_back(SetMapCanvas{space});
}

Area space_left() {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 size = ImGui::GetContentRegionAvail();
    return {low, {low.x + size.x, low.y + size.y}};
}

void draw_map_alone(const MapScene& scene) {
    const Area space = space_left();
    const bool beside = is_lower_than(kLowestWindow, scene.frame);
    const Rulers at = place_map(scene.frame, without_legend(scene.frame, space, beside));
    report_canvas_size(scene, at.canvas);
    if (!has_map(scene.view)) return draw_hint(scene, space);
    show_hovered(scene, draw_framed(scene, at, beside));
}

MapsPointed draw_maps(std::span<const MapView> maps, const MapLook& look, const Box& box,
                      const Frame& frame, Actions& out) {
    const Area space{{box.low.x, box.low.y + frame.px(kTitleRow)}, box.high};
    const bool beside = maps.size() == 1 && is_lower_than(kLowestWindow, frame);
    Rulers at = place_map(frame, without_legend(frame, space, beside));
    const auto count = static_cast<float>(maps.size());
    const float gap = frame.px(kSpace16);
    const float width = std::floor((at.canvas.width() - gap * (count - 1.0F)) / count);
    const float high = at.canvas.low.y + filled_height(look.size, width);
    at.canvas.high.y = at.rows.high.y = std::min(at.canvas.high.y, high);
    MapsPointed pointed;
    for (std::size_t n = 0; n < maps.size(); ++n) {
        at.canvas.high.x = at.columns.high.x =
            at.canvas.low.x + std::max(width, frame.px(kLeastCanvas));
        Actions asked;
        const MapScene scene{maps[n], look, frame, asked};
        if (n == 0) report_canvas_size(scene, at.canvas);
        ImGui::PushID(static_cast<int>(n));
        draw_fitted(frame, frame.fonts.strong, {at.canvas.low.x, box.low.y},
                    {at.canvas.high.x, space.low.y}, Align::left, frame.theme.role(maps[n].role),
                    maps[n].title);
        if (const auto under = draw_framed(scene, at, beside)) pointed.hovered = under;
        ImGui::PopID();
        for (Action& action : asked) {
            if (const auto* const select = action.as<SelectMapCell>())
                pointed.clicked = select->cell;
            else
                out.push_back(std::move(action));
        }
        at.canvas.low.x = at.columns.low.x = at.rows.low.x = at.rows.high.x =
            at.canvas.high.x + gap;
    }
    if (pointed.hovered != look.hovered) out.push_back(HoverMapCell{pointed.hovered});
    return pointed;
}

std::vector<GridView> titles_of(const std::vector<MapView>& maps) {
    std::vector<GridView> titled(maps.size());
    for (std::size_t n = 0; n < maps.size(); ++n) titled[n].title = maps[n].title;
    return titled;
}

void draw_map_legend(const MapScene& scene, const Area& area) {
    const MapLegend& legend = scene.view.legend;
    if (legend.colors.size() < 2) return;
    const Frame& frame = scene.frame;
    const Font& font = frame.fonts.small;
    const std::string title = fit_text(frame, font, legend.title, area.width());
    frame.painter.text(font, area.low, frame.theme.text, title);
    const float top = std::round(area.low.y + font.px + frame.px(6));
    const Area bar{
        {area.low.x, top},
        {area.low.x + std::min(frame.px(kBarWidth), area.width()), top + frame.px(kBarHeight)}};
    frame.painter.gradient(bar.low, bar.high, legend.colors);
    draw_ticks(legend, bar, frame);
    draw_swatches(legend, bar, area.high.x, frame);
    ImGui::SetCursorScreenPos(area.low);
    invisible_button("legend", {area.width(), bar.high.y - area.low.y});
    tooltip(frame, legend.title, legend.note);
}

void draw_minimap(const MapScene& scene, const Area& area) {
    const Area map = fitted(scene.view.matrix, area);
    scene.frame.painter.rect(map.low, map.high, scene.frame.theme.raised);
    if (const auto& picture = scene.view.minimap.picture)
        scene.frame.painter.image({picture->content_key, picture->paint}, map.low, map.high);
    scene.frame.painter.outline(map.low, map.high, scene.frame.theme.line, 1.0F);
    draw_view(scene, map);
    read_press(scene, map);
}

}  // namespace attn::ui
