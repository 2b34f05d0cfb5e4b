#include <algorithm>

#include "app/common/draw/grid_parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTick = 6.0F;     // how far a border stands out over the cells
constexpr float kMark = 3.0F;     // over the columns of the head on the canvas
constexpr float kNarrow = 24.0F;  // borders of narrower groups are faint

/// Where the columns of a group begin and end.
struct Span {
    float left, right;
};
Span span_of(const GridCanvas& canvas, std::size_t group) {
    const auto& groups = canvas.grid.groups;
    const bool last = group + 1 == groups.size();
    return {canvas.corner(0, groups[group].first).x,
            canvas.corner(0, last ? canvas.grid.columns : groups[group + 1].first).x};
}

}  // namespace

void draw_group_borders(const GridCanvas& canvas) {
    const Frame& frame = canvas.frame;
    const float top = canvas.place.origin.y;
    for (std::size_t n = 0; n < canvas.grid.groups.size(); ++n) {
        const Span span = span_of(canvas, n);
        const bool narrow = span.right - span.left < frame.px(kNarrow);
        const view::Color color = translucent(frame.theme.text, narrow ? 0.35 : 0.8);
        if (n > 0)
            frame.painter.line({span.left, top - frame.px(kTick)}, {span.left, canvas.end().y},
                               color, frame.px(1));
        if (canvas.grid.groups[n].shown)
            frame.painter.rect({span.left, top - frame.px(kMark)}, {span.right, top},
                               frame.theme.accent);
    }
}

void draw_group_labels(const GridCanvas& canvas, float foot) {
    const Frame& frame = canvas.frame;
    const Font& font = frame.fonts.small;
    for (std::size_t n = 0; n < canvas.grid.groups.size(); ++n) {
        const view::ColumnGroup& group = canvas.grid.groups[n];
        const Span span = span_of(canvas, n);
        const float room = span.right - span.left - frame.px(4);
        const std::string number = group.label.substr(group.label.rfind(' ') + 1);
        const bool fits = frame.text_width(font, group.label) <= room;
        if (!fits && frame.text_width(font, number) > room) continue;
        draw_text_in(frame, font, {span.left, foot - frame.px(kLabelHeight)}, {span.right, foot},
                     Align::center, group.shown ? frame.theme.accent : frame.theme.muted,
                     fits ? group.label : number);
    }
}

}  // namespace attn::ui
