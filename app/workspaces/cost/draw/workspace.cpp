#include <algorithm>

#include "app/common/draw/inspector.h"
#include "app/common/draw/workspace.h"
#include "app/common/workspace.h"
#include "app/workspaces/cost/draw/panel.h"

namespace attn::ui {

std::string draw_cost_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                view::Actions& out) {
    const Box box{{r.work.low.x + r.margin, frame.px(16)},
                  {r.work.high.x - r.inspector - r.margin, r.work.high.y}};
    const view::CostView view = build_cost_view(state);
    const auto toolbar = r.chrome ? CostToolbar::shown : CostToolbar::hidden;
    panel("cost", box, [&] { draw_cost_panel(view, frame, out, toolbar); });
    if (!r.has_side()) return view.status;
    const Frame beside = around(frame);
    const Box side = r.side(0.0F);
    panel("side", side, [&] {
        fill_side(r, 0.0F, beside);
        panel("inspector",
              {{side.low.x + frame.px(16), frame.px(16)}, {side.high.x - frame.px(4), side.high.y}},
              [&] { draw_inspector(shown_workspace(state).inspector(state), beside, out); });
    });
    return view.status;
}

/// A curve that climbs through a level line.
void draw_cost_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                    float thin) {
    painter.line(low, {low.x, low.y + size}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    painter.line({low.x, low.y + size * 0.35F}, {low.x + size, low.y + size * 0.35F}, color, thin);
    const view::Point steep[] = {{low.x + thin, low.y + size * 0.95F},
                                 {low.x + size * 0.95F, low.y + size * 0.05F}};
    const view::Point flat[] = {{low.x + thin, low.y + size * 0.95F},
                                {low.x + size * 0.95F, low.y + size * 0.6F}};
    painter.polyline(steep, color, thin * 2.0F);
    painter.polyline(flat, color, thin * 2.5F);
}

extern const WorkspacePanel kCostPanel;
const WorkspacePanel kCostPanel{"cost", draw_cost_icon, draw_cost_workspace};

}  // namespace attn::ui
