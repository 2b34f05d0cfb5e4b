#pragma once

#include "app/common/draw/workspace.h"

namespace attn::ui {

/// The panel at the right, where it is shown: beneath the bar that ends at `bar`. As the
/// last thing: it may cover the canvas.
template <class Draw>
void side_panel(const WorkArea& area, float bar, const char* id, const Frame& frame, Draw draw) {
    if (!area.has_side()) return;
    const Frame beside = around(frame);
    const float top = bar + frame.px(1);
    const Box box = area.side(top);
    panel("side", box, [&] {
        fill_side(area, top, beside);
        panel(id,
              {{box.low.x + frame.px(16), top + frame.px(kSpace12)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw(beside); });
    });
}
/// A number that was clicked has its arithmetic: where one of the actions selects something, the inspector opens in a window
/// that has no room for it beside the canvas.
void open_inspector(const AppState& state, const WorkArea& area, Actions& out);
/// The same with the inspector of the workspace that is shown.
void side_inspector(const AppState& state, const WorkArea& area, float bar, const Frame& frame,
                    Actions& out);

}  // namespace attn::ui
