#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/plot_parts.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

/// Tops of the texts of the two points. The upper text is above its point; the lower one above
/// too where there is room between them, else below.
std::array<float, 2> value_tops(const PlotCanvas& canvas, std::array<float, 2> ys) {
    const float height = canvas.frame.fonts.digits.px;
    const float gap = canvas.frame.px(kMarkerRing + 2);
    const std::size_t upper = ys[0] <= ys[1] ? 0 : 1;
    const std::size_t lower = 1 - upper;
    std::array<float, 2> tops{};
    tops[upper] = ys[upper] - gap - height;
    const bool spacious = ys[lower] - ys[upper] > 2 * height + 2 * gap;
    tops[lower] = spacious ? ys[lower] - gap - height : ys[lower] + gap;
    if (tops[lower] + height > canvas.high.y) tops[lower] = ys[lower] - gap - height;
    tops[upper] = std::max(tops[upper], canvas.low.y);
    if (tops[lower] < tops[upper] + height)
        tops[upper] = std::max(canvas.low.y, tops[lower] - height);
    return tops;
}

}  // namespace

void draw_point_values(const PlotCanvas& canvas, std::array<std::size_t, 2> points, bool left) {
    const Frame& frame = canvas.frame;
    const view::PlotView& plot = canvas.plot;
    const auto y = [&](std::size_t n) {
        return within(canvas.y(plot.marker_ys[points[n]]), canvas.low.y, canvas.high.y);
    };
    if (std::isnan(plot.marker_ys[points[0]] + plot.marker_ys[points[1]])) return;
    const Font& font = frame.fonts.digits;
    const std::array<float, 2> tops = value_tops(canvas, {y(0), y(1)});
    const bool one = std::abs(y(0) - y(1)) < frame.px(kMarkerRing);
    const float at = canvas.x(plot.marker_x), pad = frame.px(8);
    for (std::size_t n = 0; n < (one ? 1U : 2U); ++n) {
        const std::string& text = plot.marker_texts[points[n]];
        const float width = frame.text_width(font, text);
        const bool before =
            left ? at - pad - width >= canvas.low.x : at + pad + width > canvas.high.x;
        const float x = before ? at - pad - width : at + pad;
        frame.painter.rect({x - 3, tops[n] - 1}, {x + width + 3, tops[n] + font.px + 1},
                           view::translucent(frame.theme.background, 0.8), frame.px(3));
        frame.painter.text(font, {x, tops[n]}, frame.theme.role(plot.curves[points[n]].role), text);
    }
}

}  // namespace attn::ui
