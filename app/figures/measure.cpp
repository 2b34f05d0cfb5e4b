#include "app/figures/measure.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace attn::figures {

using view::Color;
using view::Point;

Point Measure::turned(Point point) const {
    if (!turn_) return point;
    const Point d{point.x - turn_->about.x, point.y - turn_->about.y};
    return {turn_->about.x + d.x * turn_->cosine - d.y * turn_->sine,
            turn_->about.y + d.x * turn_->sine + d.y * turn_->cosine};
}

void Measure::add(Point point) {
    Point at = turned(point);
    if (!clips_.empty()) {
        const Area& clip = clips_.back();
        at = {std::min(std::max(at.x, clip.low.x), clip.high.x),
              std::min(std::max(at.y, clip.low.y), clip.high.y)};
    }
    if (!drawn_) drawn_ = Area{at, at};
    drawn_->low = {std::min(drawn_->low.x, at.x), std::min(drawn_->low.y, at.y)};
    drawn_->high = {std::max(drawn_->high.x, at.x), std::max(drawn_->high.y, at.y)};
}

void Measure::add(Point low, Point high, float around) {
    for (const float x : {low.x - around, high.x + around})
        for (const float y : {low.y - around, high.y + around}) add({x, y});
}

void Measure::text(const view::Font& font, Point at, Color, std::string_view text) {
    const Point size = text_size(font, text);
    add(at, {at.x + size.x, at.y + size.y});
}

void Measure::rect(Point low, Point high, Color, float) { add(low, high); }
void Measure::outline(Point low, Point high, Color, float thickness, float) {
    add(low, high, thickness / 2);
}
void Measure::gradient(Point low, Point high, std::span<const Color>) { add(low, high); }

void Measure::line(Point from, Point to, Color, float thickness) {
    for (const Point point : {from, to}) add(point, point, thickness / 2);
}

void Measure::polyline(std::span<const Point> points, Color, float thickness) {
    for (const Point point : points) add(point, point, thickness / 2);
}

void Measure::polygon(std::span<const Point> corners, Color) {
    for (const Point point : corners) add(point);
}

void Measure::band(std::span<const Point> upper, std::span<const Point> lower, Color fill) {
    polygon(upper, fill);
    polygon(lower, fill);
}

void Measure::circle(Point middle, float radius, Color) { add(middle, middle, radius); }
void Measure::ring(Point middle, float radius, Color, float thickness) {
    add(middle, middle, radius + thickness / 2);
}
void Measure::image(const view::Picture&, Point low, Point high, const view::Part&) {
    add(low, high);
}

void Measure::push_clip(Point low, Point high) {
    Area clip{low, high};
    if (!clips_.empty()) {
        const Area& outer = clips_.back();
        clip = {{std::max(low.x, outer.low.x), std::max(low.y, outer.low.y)},
                {std::min(high.x, outer.high.x), std::min(high.y, outer.high.y)}};
    }
    clips_.push_back(clip);
}

void Measure::push_rotation(Point about, float degrees) {
    const float radians = degrees * std::numbers::pi_v<float> / 180.0F;
    turn_ = Turn{about, std::cos(radians), std::sin(radians)};
}

}  // namespace attn::figures
