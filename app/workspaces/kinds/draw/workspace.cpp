#include <cmath>

#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/workspaces/kinds/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kTop = 44.0F, kAbove = 12.0F;

}  // namespace

std::string draw_kinds_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const view::KindsView view = build_kinds_view(state);
    const bool is_online = view::kinds_look(state).online;
    const view::OnlineView online = is_online ? build_online_view(state) : view::OnlineView{};
    float top = r.work.low.y;
    if (r.chrome) {
        const Frame chrome = around(frame);
        top = chrome.px(kTop);
        panel("kinds controls",
              {{r.work.low.x + r.margin, r.work.low.y + chrome.px(8)},
               {r.work.high.x - r.margin, top}},
              [&] { draw_kinds_top(view, online, is_online, chrome, out); });
        chrome.painter.line({r.work.low.x, top}, {r.work.high.x, top}, chrome.theme.line,
                            chrome.px(1));
    }
    const Box body = canvas_box(r, top + frame.px(kAbove));
    panel("kinds", body, [&] {
        if (!view.lacks.empty())
            return wrapped_words(frame, frame.fonts.title, frame.theme.muted, view.lacks);
        is_online ? draw_online(online, frame) : draw_comparison(view, r.chrome, frame, out);
    });
    side_inspector(state, r, top, frame, out);
    return "float64";
}

extern const WorkspacePanel kKindsPanel;
const WorkspacePanel kKindsPanel{"kinds", draw_kinds_workspace};

}  // namespace attn::ui
