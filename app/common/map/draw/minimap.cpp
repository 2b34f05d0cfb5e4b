#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/map/camera.h"
#include "app/common/map/draw/parts.h"

namespace attn::ui {
namespace {

constexpr float kLeastView = 5.0F;  // px of the view's rectangle, however deep the zoom

/// The matrix in its own proportions, in the middle of the area.
Area fitted(const view::PixelRect& matrix, const Area& area) {
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
    const view::PixelRect& seen = scene.view.minimap.view;
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
    const auto step = [&](view::Key back, view::Key on) {
        const bool forth = take_key(scene.frame, on, true);
        return (take_key(scene.frame, back, true) ? -0.5 : 0.0) + (forth ? 0.5 : 0.0);
    };
    const double across = step(view::Key::left, view::Key::right);
    const double down = step(view::Key::up, view::Key::down);
    if (across == 0.0 && down == 0.0) return;
    const view::MapCanvas room = view::canvas_of(scene.look);
    const view::MapCamera camera =
        view::panned(scene.look, -across * room.width, -down * room.height);
    if (!(camera == view::shown_camera(scene.look)))
        scene.out.push_back(view::moved_map(scene.look, camera));
}

void read_press(const MapScene& scene, const Area& map) {
    ImGui::SetCursorScreenPos(map.low);
    ImGui::InvisibleButton("minimap", map.size());
    tooltip(scene.frame, "The whole matrix",
            "Press or drag to move there; with the keyboard the arrows.  Key F: all of it.");
    if (focus_stop(scene.frame)) read_keys(scene);
    if (!ImGui::IsItemActive()) return;
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto share = [](float at, float low, float high) {
        return within(static_cast<double>((at - low) / (high - low)), 0.0, 1.0);
    };
    const view::MapCamera camera = view::centred_at(
        scene.look, share(mouse.x, map.low.x, map.high.x), share(mouse.y, map.low.y, map.high.y));
    if (!(camera == view::shown_camera(scene.look)))
        scene.out.push_back(view::moved_map(scene.look, camera));
}

}  // namespace

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
