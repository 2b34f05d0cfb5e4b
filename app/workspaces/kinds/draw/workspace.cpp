#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/workspace.h"
#include "app/common/workspace.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTop = 44.0F;
constexpr float kAbove = 12.0F;

/// The row of controls; returns where it ends.
float draw_top(const view::AppState& state, const view::KindsView& view,
               const view::OnlineView& online, const WorkArea& r, const Frame& frame,
               view::Actions& out) {
    const float height = frame.px(kTop);
    panel(
        "kinds controls",
        {{r.work.low.x + r.margin, r.work.low.y + frame.px(8)}, {r.work.high.x - r.margin, height}},
        [&] { draw_kinds_top(view, online, view::kinds_look(state).online, frame, out); });
    frame.painter.line({r.work.low.x, height}, {r.work.high.x, height}, frame.theme.line,
                       frame.px(1));
    return height;
}

/// The inspector, beside the canvas or over it.
void draw_side(const view::AppState& state, const WorkArea& r, float top, const Frame& frame,
               view::Actions& out) {
    const Box box = r.side(top);
    panel("side", box, [&] {  // of its own: it covers what is beneath
        fill_side(r, top, frame);
        panel("inspector",
              {{box.low.x + frame.px(16), box.low.y + frame.px(12)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw_inspector(view::shown_workspace(state).inspector(state), frame, out); });
    });
}

}  // namespace

std::string draw_kinds_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const view::KindsView view = build_kinds_view(state);
    const bool is_online = view::kinds_look(state).online;
    const view::OnlineView online = is_online ? build_online_view(state) : view::OnlineView{};
    const float top =
        r.chrome ? draw_top(state, view, online, r, around(frame), out) : r.work.low.y;
    const Box body{{r.work.low.x + r.margin, top + frame.px(kAbove)},
                   {r.work.high.x - r.inspector - r.margin, r.work.high.y}};
    panel("kinds", body, [&] {
        if (!view.lacks.empty())
            return wrapped_words(frame, frame.fonts.title, frame.theme.muted, view.lacks);
        is_online ? draw_online(online, frame) : draw_comparison(view, r.chrome, frame, out);
    });
    if (r.has_side()) draw_side(state, r, top + frame.px(1), around(frame), out);
    return "float64";
}

/// Two bars, one lower than the other.
void draw_kinds_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const float half = std::floor(size / 2.0F);
    painter.rect(low, {low.x + half - thin, low.y + size - half * 0.5F}, color);
    painter.rect({low.x + half + thin, low.y + half * 0.5F}, {low.x + size, low.y + size}, color);
}

extern const WorkspacePanel kKindsPanel;
const WorkspacePanel kKindsPanel{"kinds", draw_kinds_icon, draw_kinds_workspace};

}  // namespace attn::ui
