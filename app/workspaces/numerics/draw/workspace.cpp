#include <algorithm>

#include "app/common/draw/inspector.h"
#include "app/common/draw/workspace.h"
#include "app/common/workspace.h"
#include "app/workspaces/numerics/draw/panel.h"

namespace attn::ui {

std::string draw_numerics_workspace(const view::AppState& state, const WorkArea& r,
                                    const Frame& frame, view::Actions& out) {
    const Box box{{r.work.low.x + r.margin, frame.px(16)},
                  {r.work.high.x - r.inspector - r.margin, r.work.high.y}};
    const view::NumericsView view = build_numerics_view(state);
    const auto toolbar = r.chrome ? NumericsToolbar::shown : NumericsToolbar::hidden;
    panel("numerics", box, [&] { draw_numerics_panel(view, frame, out, toolbar); });
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

/// Bars that grow, and one that goes through the ceiling.
void draw_numerics_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                        float thin) {
    const float step = size / 4;
    painter.line({low.x, low.y + thin * 3}, {low.x + size, low.y + thin * 3}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    constexpr float kHeights[] = {0.25F, 0.4F, 0.65F, 1.0F};
    for (int n = 0; n < 4; ++n) {
        const float x = low.x + step * static_cast<float>(n);
        painter.rect({x, low.y + size * (1.0F - kHeights[n])}, {x + step - thin * 2, low.y + size},
                     color);
    }
}

extern const WorkspacePanel kNumericsPanel;
const WorkspacePanel kNumericsPanel{"numerics", draw_numerics_icon, draw_numerics_workspace};

}  // namespace attn::ui
