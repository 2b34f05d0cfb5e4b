#pragma once

#include <optional>
#include <string>

#include "app/common/draw/workspace.h"

namespace attn::ui {

// What stands around the canvas of a workspace, and in its place.

inline constexpr float kRoomBar = 40.0F;  // design units

/// The bar of controls over a line, `height` pixels high; nothing while presenting. Returns where it ends.
template <class Draw>
float bar_panel(const WorkArea& area, float height, const Frame& frame, Draw draw) {
    const Box& work = area.work;
    if (!area.chrome) return work.low.y;
    const Frame chrome = around(frame);
    const float foot = work.low.y + height;
    panel("bar",
          {{work.low.x + area.margin, work.low.y + frame.px(6)}, {work.high.x - area.margin, foot}},
          [&] { draw(chrome); });
    chrome.painter.line({work.low.x, foot}, {work.high.x, foot}, chrome.theme.line, chrome.px(1));
    return foot;
}

/// The panel at the right, where it is shown: beneath the bar that ends at `bar`, or from the window's top on. As the
/// last thing: it may cover the canvas.
template <class Draw>
void side_panel(const WorkArea& area, std::optional<float> bar, const char* id, const Frame& frame,
                Draw draw) {
    if (!area.has_side()) return;
    const Frame beside = around(frame);
    const float top = bar ? *bar + frame.px(1) : 0.0F;
    const Box box = area.side(top);
    panel("side", box, [&] {
        fill_side(area, top, beside);
        panel(id,
              {{box.low.x + frame.px(16), top + frame.px(bar ? 12.0F : 16.0F)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw(beside); });
    });
}
/// A number that was clicked has its arithmetic: where one of the actions selects something, the inspector opens in a window
/// that has no room for it beside the canvas.
void open_inspector(const view::AppState& state, const WorkArea& area, view::Actions& out);
/// The same with the inspector of the workspace that is shown, which a number that was clicked opens.
void side_inspector(const view::AppState& state, const WorkArea& area, std::optional<float> bar,
                    const Frame& frame, view::Actions& out);

/// The canvas from `top` on, but for `foot` pixels: between the margin and the panel at the right.
Box canvas_box(const WorkArea& area, float top, float foot = 0.0F);
/// In the place of all else: why nothing is shown. False, and nothing drawn, of "".
bool draw_lacks(const std::string& lacks, const WorkArea& area, const Frame& frame);

}  // namespace attn::ui
