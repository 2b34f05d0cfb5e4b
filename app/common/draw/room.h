#pragma once

#include <string>

#include "app/common/draw/draw.h"
#include "app/common/draw/inspector.h"
#include "app/common/draw/workspace.h"

namespace attn::ui {

// What the room of a workspace is made of.

/// Its row of controls, from the top of the room to `foot`, and the line under it. `draw` fills it.
template <class Draw>
void draw_bar(const WorkArea& room, float foot, const Frame& chrome, Draw draw) {
    const Box& work = room.work;
    panel(
        "bar",
        {{work.low.x + room.margin, work.low.y + chrome.px(6)}, {work.high.x - room.margin, foot}},
        draw);
    chrome.painter.line({work.low.x, foot}, {work.high.x, foot}, chrome.theme.line, chrome.px(1));
}

/// The inspector from `top` on, beside the canvas or over it, where it is shown.
inline void draw_inspector_side(view::InspectorView (*inspector)(const view::AppState& state),
                                const view::AppState& state, const WorkArea& room, float top,
                                const Frame& frame, view::Actions& out) {
    if (!room.has_side()) return;
    const Box box = room.side(top);
    panel("side", box, [&] {  // of its own: it covers what is beneath
        fill_side(room, top, frame);
        panel("inspector",
              {{box.low.x + frame.px(16), box.low.y + frame.px(12)},
               {box.high.x - frame.px(4), box.high.y}},
              [&] { draw_inspector(inspector(state), frame, out); });
    });
}

/// One sentence in the place of what it says is not there.
inline void draw_lack(const char* id, const std::string& sentence, const Box& box,
                      const Frame& frame) {
    panel(id, box, [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, sentence); });
}

}  // namespace attn::ui
