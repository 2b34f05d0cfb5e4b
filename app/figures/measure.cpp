#include "app/figures/measure.h"

#include <algorithm>
#include <numbers>

namespace attn::figures {

using view::Color, view::Point;

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
    if (text.empty()) return;
    const Point size = text_size(font, text);
    add(at, {at.x + size.x, at.y + size.y});
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
