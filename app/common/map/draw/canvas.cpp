#include "app/common/document/document.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/map/actions.h"
#include "app/common/map/camera.h"
#include "app/common/map/draw/parts.h"

namespace attn::ui {
namespace {

constexpr double kWheelZoom = 1.2;        // a notch
constexpr double kDoubleClickZoom = 2.0;  // closer
// Design units.
constexpr float kGridCell = 12.0F;  // cells from this size on are parted by lines
constexpr float kDragStart = 3.0F;  // a press that moves less is a click
constexpr float kWheelPan = 64.0F;  // a notch of a sideways wheel
constexpr float kLeastOutline = 7.0F, kMarkRadius = 8.0F, kTinyFigures = 10.0F;

// --- drawing

/// A texel at the edge may stand for fewer cells than the others: it is cut where the matrix ends.
PixelRect intersection(const PixelRect& rect, const PixelRect& bounds) {
    return {std::max(rect.left, bounds.left), std::max(rect.top, bounds.top),
            std::min(rect.right, bounds.right), std::min(rect.bottom, bounds.bottom)};
}

/// Rectangles of the view on screen.
struct Canvas {
    const MapScene& scene;
    Area area;

    ImVec2 at(double x, double y) const {
        return {area.low.x + static_cast<float>(x), area.low.y + static_cast<float>(y)};
    }
    /// The part of it that shows; the rest may lie millions of pixels away.
    PixelRect visible(const PixelRect& rect) const {
        return intersection(rect, {0.0, 0.0, area.width(), area.height()});
    }
};

bool is_empty(const PixelRect& rect) { return rect.right <= rect.left || rect.bottom <= rect.top; }

void draw_picture(const Canvas& canvas, const MapPicture& picture) {
    const PixelRect& whole = picture.where;
    const PixelRect part = canvas.visible(intersection(whole, canvas.scene.view.matrix));
    if (is_empty(part)) return;
    const auto u = [&](double x) {
        return static_cast<float>((x - whole.left) / (whole.right - whole.left));
    };
    const auto v = [&](double y) {
        return static_cast<float>((y - whole.top) / (whole.bottom - whole.top));
    };
    canvas.scene.frame.painter.image(
        {picture.content_key, picture.paint}, canvas.at(part.left, part.top),
        canvas.at(part.right, part.bottom),
        {{u(part.left), v(part.top)}, {u(part.right), v(part.bottom)}});
}

/// Within the matrix: where tiles touch, a painter may draw a little beyond them.
void draw_pictures(const Canvas& canvas) {
    const PixelRect shown = canvas.visible(canvas.scene.view.matrix);
    if (is_empty(shown)) return;
    canvas.scene.frame.painter.push_clip(
        canvas.at(std::floor(shown.left), std::floor(shown.top)),
        canvas.at(std::ceil(shown.right), std::ceil(shown.bottom)));
    for (const MapPicture& picture : canvas.scene.view.pictures) draw_picture(canvas, picture);
    canvas.scene.frame.painter.pop_clip();
}

/// Lines between cells, fading in as the cells grow.
void draw_grid_lines(const Canvas& canvas) {
    const Frame& frame = canvas.scene.frame;
    const double width = 1.0 / view::columns_per_pixel(canvas.scene.look);
    const double height = 1.0 / view::rows_per_pixel(canvas.scene.look);
    const double cell = std::min(width, height);
    if (cell < frame.px(kGridCell)) return;
    const PixelRect& matrix = canvas.scene.view.matrix;
    const PixelRect shown = canvas.visible(matrix);
    if (is_empty(shown)) return;
    const double share = std::min(1.0, cell / frame.px(2 * kGridCell) - 0.25);
    const Color color = view::translucent(frame.theme.background, share);
    const auto first = [](double from, double start, double step) {
        return start + std::ceil((from - start) / step) * step;
    };
    for (double x = first(shown.left, matrix.left, width); x <= shown.right; x += width) {
        const ImVec2 low = canvas.at(std::round(x), shown.top);
        frame.painter.rect(low, {low.x + 1.0F, canvas.at(0.0, shown.bottom).y}, color);
    }
    for (double y = first(shown.top, matrix.top, height); y <= shown.bottom; y += height) {
        const ImVec2 low = canvas.at(shown.left, std::round(y));
        frame.painter.rect(low, {canvas.at(shown.right, 0.0).x, low.y + 1.0F}, color);
    }
}

/// The largest digits in which every figure fits its cell with a character of air; none when none does.
std::optional<view::Font> figure_font(const Canvas& canvas) {
    const Frame& frame = canvas.scene.frame;
    const auto& figures = canvas.scene.view.figures;
    const Fonts& fonts = frame.fonts;
    const auto longest = std::ranges::max_element(
        figures, {}, [&](const MapFigure& f) { return frame.text_width(fonts.digits, f.text); });
    if (longest == figures.end()) return std::nullopt;
    const auto width = static_cast<float>(longest->where.right - longest->where.left);
    const std::array<view::Font, 5> sizes{fonts.digits_large, fonts.digits_medium, fonts.digits,
                                          fonts.digits_small,
                                          view::Font{Face::mono, frame.px(kTinyFigures)}};
    for (const view::Font& font : sizes)
        if (frame.text_width(font, longest->text + "0") <= width) return font;
    return std::nullopt;
}

/// A figure that the canvas cuts would read as another number.
void draw_figures(const Canvas& canvas) {
    const auto font = figure_font(canvas);
    if (!font) return;
    for (const MapFigure& figure : canvas.scene.view.figures) {
        const double half = canvas.scene.frame.text_width(*font, figure.text) / 2.0F;
        const double middle = (figure.where.left + figure.where.right) / 2.0;
        if (middle < half || middle + half > canvas.area.width()) continue;
        draw_text_in(canvas.scene.frame, *font, canvas.at(figure.where.left, figure.where.top),
                     canvas.at(figure.where.right, figure.where.bottom), Align::center, figure.ink,
                     figure.text);
    }
}

/// A cell; about the middle of one that is too small to be seen, something larger.
Area outlined(const Canvas& canvas, const PixelRect& rect) {
    const double least = canvas.scene.frame.px(kLeastOutline);
    const double pad_x = std::max(0.0, (least - (rect.right - rect.left)) / 2.0);
    const double pad_y = std::max(0.0, (least - (rect.bottom - rect.top)) / 2.0);
    return {canvas.at(std::round(rect.left - pad_x), std::round(rect.top - pad_y)),
            canvas.at(std::round(rect.right + pad_x), std::round(rect.bottom + pad_y))};
}

void draw_selected(const Canvas& canvas, const PixelRect& rect) {
    const Area box = outlined(canvas, rect);
    const Frame& frame = canvas.scene.frame;
    draw_ring(frame.painter, box.low, box.high, frame.theme, frame.scale);
}

void draw_outline(const Canvas& canvas, const PixelRect& rect, Color color, float thickness) {
    const auto [low, high] = outlined(canvas, rect);
    canvas.scene.frame.painter.outline({low.x - 1.0F, low.y - 1.0F}, {high.x + 2.0F, high.y + 2.0F},
                                       canvas.scene.frame.theme.background, 1.0F);
    canvas.scene.frame.painter.outline(low, {high.x + 1.0F, high.y + 1.0F}, color, thickness);
}

/// The hairline around the matrix, in the warning's colour while it is not exact.
void draw_matrix_edge(const Canvas& canvas) {
    const Theme& theme = canvas.scene.frame.theme;
    const PixelRect& matrix = canvas.scene.view.matrix;
    const double far = canvas.scene.frame.px(4);  // beyond the canvas: not seen
    const double width = canvas.area.width() + far;
    const double height = canvas.area.height() + far;
    const Color color = canvas.scene.view.sampled ? theme.warning : theme.muted;
    canvas.scene.frame.painter.outline(
        canvas.at(std::max(std::floor(matrix.left), -far), std::max(std::floor(matrix.top), -far)),
        canvas.at(std::min(std::ceil(matrix.right), width),
                  std::min(std::ceil(matrix.bottom), height)),
        color, canvas.scene.frame.px(1));
}

/// Words on a small plate, inside the canvas.
void draw_plate(const Canvas& canvas, ImVec2 low, const Font& font, const std::string& text) {
    const Frame& frame = canvas.scene.frame;
    const ImVec2 size{frame.text_width(font, text) + frame.px(16), font.px + frame.px(12)};
    const float pad = frame.px(4);
    low.x = within(low.x, canvas.area.low.x + pad, canvas.area.high.x - pad - size.x);
    low.y = within(low.y, canvas.area.low.y + pad, canvas.area.high.y - pad - size.y);
    const ImVec2 high{low.x + size.x, low.y + size.y};
    frame.painter.rect(low, high, view::translucent(frame.theme.raised, 0.94), frame.px(4));
    frame.painter.outline(low, high, frame.theme.line, frame.px(1), frame.px(4));
    draw_text_in(frame, font, low, high, Align::center, frame.theme.text, text);
}

void draw_mark(const Canvas& canvas, const MapMark& mark) {
    const Frame& frame = canvas.scene.frame;
    const float cell = static_cast<float>(1.0 / view::cells_per_pixel(canvas.scene.look));
    const float radius = std::max(frame.px(kMarkRadius), cell / 2 + frame.px(2));
    const ImVec2 middle = canvas.at(mark.x, mark.y);
    const auto ring = [&](Color color, float thickness) {  // square about a cell with figures
        if (cell < frame.px(2 * kMarkRadius))
            return frame.painter.ring(middle, radius, color, thickness);
        frame.painter.outline({middle.x - radius, middle.y - radius},
                              {middle.x + radius, middle.y + radius}, color, thickness,
                              frame.px(4));
    };
    ring(frame.theme.background, frame.px(4));
    ring(frame.theme.accent, frame.px(1.5F));
    if (frame.is_canvas_alone()) return;  // a figure's caption names it
    const Font& font = frame.fonts.small;
    draw_plate(canvas, {middle.x + radius + frame.px(4), middle.y - radius - font.px}, font,
               mark.label);
}

bool is_dragged(const Frame& frame) {
    return ImGui::IsMouseDragging(ImGuiMouseButton_Left, frame.px(kDragStart));
}

/// Below the pointer, or above it near the foot of the canvas; never over it.
void draw_hover_text(const Canvas& canvas) {
    const MapScene& scene = canvas.scene;
    if (!scene.look.hovered || scene.view.hover_text.empty()) return;
    if (!ImGui::IsItemHovered() || is_dragged(scene.frame)) return;
    const Font& font = scene.frame.fonts.body;
    ImVec2 at = ImGui::GetMousePos();
    const bool above = at.y + scene.frame.px(56) > canvas.area.high.y;
    at.x += scene.frame.px(16);
    at.y += above ? -scene.frame.px(44) : scene.frame.px(20);
    draw_plate(canvas, at, font, scene.view.hover_text);
}

/// Before the first tile the canvas says what is being done.
void draw_waiting(const Canvas& canvas) {
    if (!canvas.scene.view.pictures.empty()) return;
    const Frame& frame = canvas.scene.frame;
    draw_text_in(frame, frame.fonts.title, canvas.area.low, canvas.area.high, Align::center,
                 frame.theme.muted, canvas.scene.view.pass.text);
}

void draw_content(const Canvas& canvas) {
    const MapView& view = canvas.scene.view;
    const Theme& theme = canvas.scene.frame.theme;
    draw_pictures(canvas);
    draw_grid_lines(canvas);
    draw_figures(canvas);
    draw_matrix_edge(canvas);
    draw_waiting(canvas);
    if (view.hovered) draw_outline(canvas, *view.hovered, theme.text, 1.0F);
    if (view.selected) draw_selected(canvas, *view.selected);
    for (const MapMark& mark : view.marks) draw_mark(canvas, mark);
}

// --- gestures

/// What the wheel over the canvas, or a hand on it, makes of the camera.
std::optional<MapCamera> moved_camera(const MapScene& scene, ImVec2 at) {
    const ImGuiIO& io = ImGui::GetIO();
    const MapLook& look = scene.look;
    if (ImGui::IsItemHovered()) {
        if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left))
            return view::zoomed_about(look, at.x, at.y, kDoubleClickZoom);
        if (io.MouseWheel != 0.0F)
            return view::zoomed_about(look, at.x, at.y, std::pow(kWheelZoom, io.MouseWheel));
        if (io.MouseWheelH != 0.0F)
            return view::panned(look, io.MouseWheelH * scene.frame.px(kWheelPan), 0.0);
    }
    const bool moved = io.MouseDelta.x != 0.0F || io.MouseDelta.y != 0.0F;
    if (ImGui::IsItemActive() && is_dragged(scene.frame) && moved)
        return view::panned(look, io.MouseDelta.x, io.MouseDelta.y);
    return std::nullopt;
}

/// A press that was let go where it began.
bool was_click(const Frame& frame, bool released) {
    const ImVec2 drag = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, frame.px(kDragStart));
    return released && drag.x == 0.0F && drag.y == 0.0F;
}

/// The cell under the pointer.
std::optional<large::Cell> read_hand(const MapScene& scene, const Area& canvas) {
    ImGui::SetCursorScreenPos(canvas.low);
    const bool released = invisible_button("map", canvas.size());
    const ImVec2 mouse = ImGui::GetMousePos();
    const ImVec2 at{mouse.x - canvas.low.x, mouse.y - canvas.low.y};
    if (const auto camera = moved_camera(scene, at)) move_map(scene, *camera);
    const auto under =
        ImGui::IsItemHovered() ? view::cell_at(scene.look, at.x, at.y) : std::nullopt;
    if (under && was_click(scene.frame, released)) scene.out.push_back(SelectMapCell{*under});
    if (ImGui::IsItemActive() && is_dragged(scene.frame))
        ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
    return under;
}

}  // namespace

std::optional<large::Cell> draw_map_canvas(const MapScene& scene, const Area& area) {
    const Canvas canvas{scene, area};
    record_rect_for_tests(scene.frame.painter, Measuring::Kind::chart, area.low, area.high);
    scene.frame.painter.push_clip(area.low, area.high);
    draw_content(canvas);
    const auto under = read_hand(scene, area);
    draw_hover_text(canvas);
    scene.frame.painter.pop_clip();
    scene.frame.painter.outline({area.low.x - 1.0F, area.low.y - 1.0F},
                                {area.high.x + 1.0F, area.high.y + 1.0F}, scene.frame.theme.line,
                                1.0F);
    return under;
}

void show_hovered(const MapScene& scene, const std::optional<large::Cell>& under) {
    if (under != scene.look.hovered) scene.out.push_back(HoverMapCell{under});
}

}  // namespace attn::ui
