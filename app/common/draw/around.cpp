#include "app/common/draw/around.h"

#include "app/common/draw/inspector.h"
#include "app/common/workspace.h"

namespace attn::ui {

void side_inspector(const view::AppState& state, const WorkArea& area, float bar,
                    const Frame& frame, view::Actions& out) {
    side_panel(area, bar, "inspector", frame, [&](const Frame& beside) {
        draw_inspector(view::shown_workspace(state).inspector(state), beside, out);
    });
}

}  // namespace attn::ui
