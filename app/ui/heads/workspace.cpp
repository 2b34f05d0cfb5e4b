#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/inspector.h"
#include "app/ui/heads/parts.h"
#include "app/ui/workspaces.h"
#include "app/view/document/requests.h"
#include "app/view/heads/workspace.h"

namespace attn::ui {
namespace {

using view::AllHeadsView;

// Design units.
constexpr float kBar = 40.0F;
constexpr float kGap = 12.0F;
constexpr float kFoot = 8.0F;
constexpr float kNote = 20.0F;

/// The first line, in two where it is long; returns where it ends.
float draw_point(const AllHeadsView& view, const Box& box, const Frame& frame) {
    const bool fits = frame.text_width(frame.fonts.title, view.point) <= box.size().x;
    const Font& font = fits ? frame.fonts.title : frame.fonts.body;
    const float height = font.px * (fits ? 1.4F : 2.6F);
    panel("point", {box.low, {box.high.x, box.low.y + height}},
          [&] { wrapped_words(frame, font, frame.theme.text, view.point); });
    return box.low.y + height;
}

float draw_notes(const AllHeadsView& view, float top, const Box& box, const Frame& frame) {
    for (const std::string& note : view.notes) {
        draw_text_in(frame, frame.fonts.body, {box.low.x, top}, {box.high.x, top + frame.px(kNote)},
                     Align::left, frame.theme.warning,
                     fit_text(frame, frame.fonts.body, note, box.size().x));
        top += frame.px(kNote);
    }
    return top;
}

/// The small pictures left, the head that is shown right of them.
void draw_body(const AllHeadsView& view, const Box& box, const Frame& frame, view::Actions& out) {
    const float point = draw_point(view, box, frame);
    const float top = draw_notes(view, point, box, frame) + frame.px(kGap) / 2;
    const Box whole{{box.low.x, top}, {box.high.x, box.high.y - frame.px(kFoot)}};
    const float thumbs = thumbs_width(view, whole.size(), frame);
    draw_thumbs(view, {whole.low, {whole.low.x + thumbs, whole.high.y}}, frame, out);
    const Box hero{{whole.low.x + thumbs + frame.px(kGap), whole.low.y}, whole.high};
    panel("hero", hero, [&] { draw_head_grids(view, hero, frame, out); });
}

void draw_side(const view::AppState& state, const WorkArea& area, float top, const Frame& frame,
               view::Actions& out) {
    const Box box = area.side(top);
    panel("side", box, [&] {
        fill_side(area, top, frame);
        panel("inspector",
              {{box.low.x + frame.px(16), box.low.y + frame.px(12)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw_inspector(view::heads_inspector(state), frame, out); });
    });
}

}  // namespace

std::string draw_heads_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const AllHeadsView view = build_all_heads_view(state);
    const Box whole{{r.work.low.x + r.margin, r.work.low.y + frame.px(16)},
                    {r.work.high.x - r.margin - r.inspector, r.work.high.y}};
    if (!view.lacks.empty()) {
        panel("lacks", whole,
              [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, view.lacks); });
        return {};
    }
    float top = r.work.low.y;
    if (r.chrome) {
        const Frame chrome = around(frame);
        top += frame.px(kBar);
        panel("bar",
              {{r.work.low.x + r.margin, r.work.low.y + frame.px(6)},
               {r.work.high.x - r.margin, top}},
              [&] { draw_heads_bar(view, chrome, out); });
        chrome.painter.line({r.work.low.x, top}, {r.work.high.x, top}, chrome.theme.line,
                            chrome.px(1));
    }
    const Box box{{whole.low.x, top + frame.px(kGap)}, whole.high};
    panel("all heads", box, [&] { draw_body(view, box, frame, out); });
    if (r.has_side()) draw_side(state, r, top + frame.px(1), around(frame), out);
    return view::computed_words(state);
}

/// Four small matrices, one of them filled.
void draw_heads_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const float step = size / 2;
    for (int n = 0; n < 4; ++n) {
        const view::Point a{low.x + step * static_cast<float>(n % 2),
                            low.y + step * static_cast<float>(n / 2)};
        const view::Point b{a.x + step - thin * 2, a.y + step - thin * 2};
        if (n == 1)
            painter.rect(a, b, color);
        else
            painter.outline(a, b, color, thin);
    }
}

}  // namespace attn::ui
