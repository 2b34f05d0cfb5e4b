#include "app/common/draw/figure_painters.h"

#include <imgui.h>

#include <algorithm>
#include <array>

namespace attn::ui {

using view::Color;
using view::Point;

Point PassingPainter::text_size(const view::Font& font, std::string_view text) {
    return to_.text_size(font, text);
}

void PassingPainter::text(const view::Font& font, Point at, Color color, std::string_view text) {
    const Point size = text_size(font, text);
    if (admits(at, {at.x + size.x, at.y + size.y})) to_.text(font, at, color, text);
}

void PassingPainter::rect(Point low, Point high, Color fill, float radius) {
    if (admits(low, high)) to_.rect(low, high, fill, radius);
}

void PassingPainter::outline(Point low, Point high, Color color, float thickness, float radius) {
    if (admits(low, high)) to_.outline(low, high, color, thickness, radius);
}

void PassingPainter::gradient(Point low, Point high, std::span<const Color> colors) {
    if (admits(low, high)) to_.gradient(low, high, colors);
}

void PassingPainter::line(Point from, Point to, Color color, float thickness) {
    const std::array<Point, 2> ends{from, to};
    if (admits(ends, thickness)) to_.line(from, to, color, thickness);
}

void PassingPainter::polyline(std::span<const Point> points, Color color, float thickness) {
    if (admits(points, thickness)) to_.polyline(points, color, thickness);
}

void PassingPainter::polygon(std::span<const Point> corners, Color fill) {
    if (admits(corners)) to_.polygon(corners, fill);
}

void PassingPainter::band(std::span<const Point> upper, std::span<const Point> lower, Color fill) {
    if (admits(upper) || admits(lower)) to_.band(upper, lower, fill);
}

void PassingPainter::circle(Point middle, float radius, Color fill) {
    if (admits({&middle, 1}, radius)) to_.circle(middle, radius, fill);
}

void PassingPainter::ring(Point middle, float radius, Color color, float thickness) {
    if (admits({&middle, 1}, radius + thickness)) to_.ring(middle, radius, color, thickness);
}

void PassingPainter::image(const view::Picture& picture, Point low, Point high,
                           const view::Part& part) {
    if (admits(low, high)) to_.image(picture, low, high, part);
}

void PassingPainter::push_clip(Point low, Point high) { to_.push_clip(low, high); }
void PassingPainter::pop_clip() { to_.pop_clip(); }
void PassingPainter::push_rotation(Point about, float degrees) {
    to_.push_rotation(about, degrees);
}
void PassingPainter::pop_rotation() { to_.pop_rotation(); }
Index PassingPainter::most_cells() const { return to_.most_cells(); }

bool PassingPainter::admits(std::span<const Point> points, float around) {
    if (points.empty()) return false;
    Point low = points.front();
    Point high = low;
    for (const Point& point : points) {
        low = {std::min(low.x, point.x), std::min(low.y, point.y)};
        high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
    return admits({low.x - around, low.y - around}, {high.x + around, high.y + around});
}

WindowClipPainter::~WindowClipPainter() {
    if (clip_) to_.pop_clip();
}

void WindowClipPainter::push_clip(Point low, Point high) {
    ImGui::GetWindowDrawList()->PushClipRect({low.x, low.y}, {high.x, high.y}, true);
}

void WindowClipPainter::pop_clip() { ImGui::GetWindowDrawList()->PopClipRect(); }

void WindowClipPainter::push_rotation(Point about, float degrees) {
    follow_window();
    turned_ = true;
    to_.push_rotation(about, degrees);
}

void WindowClipPainter::pop_rotation() {
    to_.pop_rotation();
    turned_ = false;
}

void WindowClipPainter::follow_window() {
    const ImDrawList& list = *ImGui::GetWindowDrawList();
    const Clip wanted{list.GetClipRectMin(), list.GetClipRectMax()};
    if (clip_ == wanted) return;
    if (clip_) to_.pop_clip();
    clip_ = wanted;
    to_.push_clip(wanted.low, wanted.high);
}

bool WindowClipPainter::admits(Point low, Point high) {
    if (turned_) return true;
    follow_window();
    return high.x >= clip_->low.x && low.x <= clip_->high.x && high.y >= clip_->low.y &&
           low.y <= clip_->high.y;
}

}  // namespace attn::ui
