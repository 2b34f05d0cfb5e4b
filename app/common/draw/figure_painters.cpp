#include "app/common/draw/figure_painters.h"

#include <algorithm>

#include <imgui.h>

namespace attn::ui {

using view::Color, view::Point;

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

void WindowClipPainter::push_title(std::string_view text) {
    follow_window();  // no clip begins or ends in it
    to_.push_title(text);
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
