#include "app/common/draw/workspace.h"
#include "app/common/draw/draw.h"
#include "app/workspaces/large/draw/panel.h"

namespace attn::ui {

std::string draw_large_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    const view::LargeView view = build_large_view(state);
    const LargeScene scene{view, view::map_look(state), frame, out};
    const float side = has_map(view) && r.chrome ? r.inspector : 0.0F;
    const float split = std::max(r.work.low.x, r.work.high.x - side);
    panel("map", {{r.work.low.x + r.margin, frame.px(16)}, {split - r.margin, r.work.high.y}},
          [&] { draw_large_map(scene); });
    if (!has_map(view)) return {};
    if (!r.has_side()) return view.bottom_line;
    const LargeScene beside{view, view::map_look(state), around(frame), out};
    const Box box = r.side(0.0F);
    panel("side", box, [&] {  // of its own: it covers what is beneath
        fill_side(r, 0.0F, beside.frame);
        panel("map side",
              {{box.low.x + frame.px(16), frame.px(16)}, {box.high.x - frame.px(4), box.high.y}},
              [&] { draw_large_side(beside); });
    });
    return view.bottom_line;
}

/// A map: a square, and a part of it drawn larger.
void draw_large_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const float part = size * 0.3F;
    const float lens = size * 0.62F;
    const view::Point high{low.x + size, low.y + size};
    painter.outline(low, {low.x + lens, low.y + lens}, color, thin);
    painter.rect({low.x + thin * 3, low.y + thin * 3}, {low.x + part, low.y + part}, color);
    painter.rect({high.x - lens + thin * 3, high.y - lens + thin * 3}, high, color);
    painter.line({low.x + lens, low.y}, {high.x, high.y - lens}, color, thin * 1.5F);
    painter.line({low.x, low.y + lens}, {high.x - lens, high.y}, color, thin * 1.5F);
}

extern const WorkspacePanel kLargePanel;
const WorkspacePanel kLargePanel{"large", draw_large_icon, draw_large_workspace};

}  // namespace attn::ui
