#include "tests/measure/tracer.h"

#include <imgui_internal.h>

#include <algorithm>
#include <numbers>

namespace attn::test {
namespace {

using view::Color;
using view::Point;

constexpr int kRingSteps = 16;

Rect clip_now() {
    const ImDrawList& list = *ImGui::GetWindowDrawList();
    return {list.GetClipRectMin(), list.GetClipRectMax()};
}

/// "attnscope/canvas_1A2B3C4D" is the canvas.
std::string window_now() {
    std::string name = ImGui::GetCurrentWindow()->Name;
    if (const auto slash = name.rfind('/'); slash != std::string::npos) name.erase(0, slash + 1);
    if (const auto hash = name.rfind('_'); hash != std::string::npos) name.erase(hash);
    return name;
}

Point turned(Point p, Point about, float degrees) {
    const float radians = degrees * std::numbers::pi_v<float> / 180.0F;
    const float c = std::cos(radians);
    const float s = std::sin(radians);
    const Point d{p.x - about.x, p.y - about.y};
    return {about.x + d.x * c - d.y * s, about.y + d.x * s + d.y * c};
}

}  // namespace

Rect around(std::span<const Point> points) {
    Rect out{points.front(), points.front()};
    for (const Point& p : points) {
        out.low = {std::min(out.low.x, p.x), std::min(out.low.y, p.y)};
        out.high = {std::max(out.high.x, p.x), std::max(out.high.y, p.y)};
    }
    return out;
}

Rect shared_part(const Rect& a, const Rect& b) {
    return {{std::max(a.low.x, b.low.x), std::max(a.low.y, b.low.y)},
            {std::min(a.high.x, b.high.x), std::min(a.high.y, b.high.y)}};
}

void Tracer::text(const view::Font& font, Point at, Color color, std::string_view text) {
    PassingPainter::text(font, at, color, text);
    if (color.a == 0 || text.find_first_not_of(' ') == std::string_view::npos) return;
    const Point size = text_size(font, text);
    const Point end{at.x + size.x, at.y + size.y};
    TextLine description{std::string(text),
                         font,
                         color,
                         {at, {end.x, at.y}, end, {at.x, end.y}},
                         turn_.has_value(),
                         clip_now(),
                         ImGui::GetScrollMaxY() > 0.0F,
                         window_now(),
                         {},
                         ++drawn_,
                         {}};
    if (turn_)
        for (Point& corner : description.corners)
            corner = turned(corner, turn_->about, turn_->degrees);
    description.box = around(description.corners);
    log_.lines.push_back(std::move(description));
}

/// What lies under an opaque rectangle is not seen.
void Tracer::rect(Point low, Point high, Color fill, float radius) {
    PassingPainter::rect(low, high, fill, radius);
    const Rect shown = shared_part({low, high}, clip_now());
    if (fill.a == 255) {
        std::erase_if(log_.lines, [&](const TextLine& w) { return shown.contains(w.bounds()); });
        std::erase_if(log_.marks, [&](const Mark& m) {
            return m.kind != Mark::Kind::fill && shown.contains(m.at);
        });
    }
    note(Mark::Kind::fill, {low, high}, fill);
}

void Tracer::outline(Point low, Point high, Color color, float thickness, float radius) {
    PassingPainter::outline(low, high, color, thickness, radius);
    note(Mark::Kind::outline, {low, high}, color, thickness,
         {low, {high.x, low.y}, high, {low.x, high.y}, low}, radius);
}

void Tracer::line(Point from, Point to, Color color, float thickness) {
    PassingPainter::line(from, to, color, thickness);
    const std::array<Point, 2> ends{from, to};
    note(Mark::Kind::line, around(ends), color, thickness, {from, to});
}

void Tracer::polyline(std::span<const Point> points, Color color, float thickness) {
    PassingPainter::polyline(points, color, thickness);
    if (points.empty()) return;
    note(Mark::Kind::curve, around(points), color, thickness, {points.begin(), points.end()});
}

/// Nor is what lies under an opaque disc.
void Tracer::circle(Point middle, float radius, Color fill) {
    PassingPainter::circle(middle, radius, fill);
    const auto is_under = [&](Point p) {
        return std::hypot(p.x - middle.x, p.y - middle.y) <= radius + 1.0F;
    };
    if (fill.a == 255)
        std::erase_if(log_.marks, [&](const Mark& m) {
            return !m.course.empty() && std::ranges::all_of(m.course, is_under);
        });
    note(Mark::Kind::disc,
         {{middle.x - radius, middle.y - radius}, {middle.x + radius, middle.y + radius}}, fill);
}

void Tracer::ring(Point middle, float radius, Color color, float thickness) {
    PassingPainter::ring(middle, radius, color, thickness);
    std::vector<Point> course;
    for (int n = 0; n <= kRingSteps; ++n)
        course.push_back(turned({middle.x + radius, middle.y}, middle,
                                360.0F / kRingSteps * static_cast<float>(n)));
    const Rect at = around(course);
    note(Mark::Kind::curve, at, color, thickness, std::move(course));
}

void Tracer::image(const view::Picture& picture, Point low, Point high, const view::Part& part) {
    PassingPainter::image(picture, low, high, part);
    log_.pictures.push_back({{low, high}, picture.paint(), part, clip_now(), ++drawn_});
}

void Tracer::record_rect(Kind kind, Point low, Point high) {
    log_.rects.push_back({kind, shared_part({low, high}, clip_now())});
}

void Tracer::push_rotation(Point about, float degrees) {
    PassingPainter::push_rotation(about, degrees);
    turn_ = Turn{about, degrees};
}

void Tracer::pop_rotation() {
    PassingPainter::pop_rotation();
    turn_.reset();
}

void Tracer::note(Mark::Kind kind, const Rect& at, Color color, float thickness,
                  std::vector<Point> course, float radius) {
    if (color.a > 0)
        log_.marks.push_back(
            {kind, at, color, thickness, clip_now(), std::move(course), radius, ++drawn_});
}

}  // namespace attn::test
