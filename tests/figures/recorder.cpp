#include "tests/figures/recorder.h"

#include <algorithm>

namespace attn::test {

using view::Color;
using view::Point;

std::size_t count(const std::string& in, const std::string& part) {
    std::size_t found = 0;
    for (auto at = in.find(part); at != std::string::npos; at = in.find(part, at + 1)) ++found;
    return found;
}

std::size_t Recorder::count(const std::string& what) const {
    return static_cast<std::size_t>(std::ranges::count(calls, what, &Call::what));
}

const Call* Recorder::find_text(const std::string& text) const {
    const auto found = std::ranges::find(calls, text, &Call::text);
    return found == calls.end() ? nullptr : &*found;
}

Point Recorder::text_size(const view::Font& font, std::string_view text) {
    return {0.5F * font.px * static_cast<float>(text.size()), font.px};
}
void Recorder::text(const view::Font& font, Point at, Color color, std::string_view text) {
    const Point size = text_size(font, text);
    calls.push_back({"text", at, {at.x + size.x, at.y + size.y}, std::string(text), color});
}
void Recorder::rect(Point low, Point high, Color fill, float) {
    calls.push_back({"rect", low, high, "", fill});
}
void Recorder::outline(Point low, Point high, Color color, float, float) {
    calls.push_back({"outline", low, high, "", color});
}
void Recorder::gradient(Point low, Point high, std::span<const Color> colors) {
    calls.push_back({"gradient", low, high, "", colors.front()});
}
void Recorder::line(Point from, Point to, Color color, float) {
    calls.push_back({"line", from, to, "", color});
}
void Recorder::polyline(std::span<const Point> points, Color color, float) {
    calls.push_back({"polyline", points.front(), points.back(), "", color});
}
void Recorder::polygon(std::span<const Point> corners, Color fill) {
    calls.push_back({"polygon", corners.front(), corners.back(), "", fill});
}
void Recorder::band(std::span<const Point> upper, std::span<const Point> lower, Color fill) {
    calls.push_back({"band", upper.front(), lower.back(), "", fill});
}
void Recorder::circle(Point middle, float, Color fill) {
    calls.push_back({"circle", middle, middle, "", fill});
}
void Recorder::ring(Point middle, float, Color color, float) {
    calls.push_back({"ring", middle, middle, "", color});
}
void Recorder::image(const view::Picture& picture, Point low, Point high, const view::Part&) {
    picture.paint();
    calls.push_back({"image", low, high, "", {}});
}
void Recorder::push_clip(Point low, Point high) {
    calls.push_back({"push_clip", low, high, "", {}});
}
void Recorder::pop_clip() { calls.push_back({"pop_clip", {}, {}, "", {}}); }
void Recorder::push_rotation(Point about, float) {
    calls.push_back({"push_rotation", about, about, "", {}});
}
void Recorder::pop_rotation() { calls.push_back({"pop_rotation", {}, {}, "", {}}); }

}  // namespace attn::test
