#include <algorithm>
#include <cmath>
#include <vector>

#include "app/common/draw/grid_parts.h"
#include "app/common/draw/widgets.h"

namespace attn::ui {
namespace {

// Enough steps that no edge is seen.
constexpr int kBarSteps = 32;

// Design units.
constexpr float kTickHeight = 2.0F;  // beyond the bar, above and below
constexpr float kLabelAir = 6.0F;
constexpr float kLeastBar = 120.0F;  // beside which there is room for a switch
constexpr float kWidestBar = 320.0F;
constexpr float kSwitchGap = 16.0F;

/// The bar without its words.
struct Bar {
    ImVec2 low;
    float width = 0.0F;
};

/// The words under the bar that are already there.
struct Taken {
    struct Span {
        float low, high;
    };
    std::vector<Span> spans;
    float air = 0.0F;

    bool take(float low, float high) {
        for (const Span& span : spans)
            if (low < span.high + air && high > span.low - air) return false;
        spans.push_back({low, high});
        return true;
    }
};

void draw_ticks(const GridCanvas& canvas, const Bar& bar) {
    const Frame& frame = canvas.frame;
    for (const view::BarTick& tick : canvas.grid.ticks) {
        const float x = std::round(bar.low.x + bar.width * static_cast<float>(tick.position));
        const ImVec2 low{x, bar.low.y - frame.px(kTickHeight)};
        const ImVec2 high{x, bar.low.y + frame.px(kBarHeight + kTickHeight)};
        frame.painter.line(low, high, frame.theme.background, frame.px(3));  // on bright colours
        frame.painter.line(low, high, frame.theme.text, frame.px(1));
    }
}

/// The ends, then the marks between them that stay clear of what is there.
void draw_bar_labels(const GridCanvas& canvas, const Bar& bar) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.digits_small;
    const float y = bar.low.y + frame.px(kBarHeight + kTickHeight);
    Taken taken{{}, frame.px(kLabelAir)};
    const auto put = [&](float x, const std::string& words) {
        if (taken.take(x, x + frame.text_width(font, words)))
            frame.painter.text(font, {x, y}, frame.theme.muted, words);
    };
    put(bar.low.x, canvas.grid.low_label);
    put(bar.low.x + bar.width - frame.text_width(font, canvas.grid.high_label),
        canvas.grid.high_label);
    for (const view::BarTick& tick : canvas.grid.ticks)
        put(bar.low.x + bar.width * static_cast<float>(tick.position) -
                frame.text_width(font, tick.label) / 2,
            tick.label);
}

void draw_legend(const GridCanvas& canvas, ImVec2 at) {
    const Font& font = canvas.frame.fonts.digits_small;
    for (const std::string& line : canvas.grid.legend) {
        canvas.frame.painter.text(font, at, canvas.frame.theme.muted, line);
        at.y += font.px * 1.25F;
    }
}

constexpr const char* kSwitchWords = "by row";

/// The room that the switch for rows takes beside the bar; 0 where there is none.
float switch_room(const GridCanvas& canvas, float width) {
    const Frame& frame = canvas.frame;
    if (!canvas.grid.rows_scaled || frame.is_canvas_alone()) return 0.0F;
    const float room = toggle_width(frame, kSwitchWords) + frame.px(kSwitchGap);
    return width - room >= frame.px(kLeastBar) ? room : 0.0F;
}

/// Right of the bar.
std::optional<bool> draw_row_switch(const GridCanvas& canvas, const Bar& bar) {
    const Frame& frame = canvas.frame;
    ImGui::SetCursorScreenPos(
        {bar.low.x + bar.width + frame.px(kSwitchGap), bar.low.y - frame.px(kBarGap)});
    return toggle(frame, "rows", kSwitchWords, *canvas.grid.rows_scaled,
                  {"Colours by row",
                   "on: the largest weight of each row has the full colour, so that rows "
                   "compare by their shape; off: the full colour is a weight of 1"});
}

}  // namespace

std::optional<bool> draw_color_bar(const GridCanvas& canvas, ImVec2 low, float width) {
    if (!canvas.grid.legend.empty()) {
        draw_legend(canvas, low);
        return std::nullopt;
    }
    const Frame& frame = canvas.frame;
    const float room = switch_room(canvas, width);
    const Bar bar{low, std::min(width - room, frame.px(kWidestBar))};
    const auto by_row = room > 0.0F ? draw_row_switch(canvas, bar) : std::nullopt;
    std::vector<view::Color> colors;
    for (int step = 0; step <= kBarSteps; ++step)
        colors.push_back(color_at(canvas.grid.range.scale, static_cast<double>(step) / kBarSteps,
                                  frame.theme.name));
    frame.painter.gradient(bar.low, {bar.low.x + bar.width, bar.low.y + frame.px(kBarHeight)},
                           colors);
    draw_ticks(canvas, bar);
    draw_bar_labels(canvas, bar);
    return by_row;
}

}  // namespace attn::ui
