#include "app/common/draw/around.h"

#include "app/common/actions.h"
#include "app/common/draw/inspector.h"
#include "app/common/state.h"
#include "app/common/workspace.h"

namespace attn::ui {

void open_inspector(const AppState& state, const WorkArea& area, Actions& out) {
    if (!area.chrome || area.has_side() || !state.narrow) return;
    if (!view::shown_workspace(state).has_side(state)) return;
    const bool selected = std::ranges::any_of(
        out, [](const Action& action) { return view::name_of(action).starts_with("select_"); });
    if (selected) out.push_back(ShowInspector{true});
}

void side_inspector(const AppState& state, const WorkArea& area, float bar, const Frame& frame,
                    Actions& out) {
    open_inspector(state, area, out);
    side_panel(area, bar, "inspector", frame, [&](const Frame& beside) {
        draw_inspector(view::shown_workspace(state).inspector(state), beside, out);
    });
}

}  // namespace attn::ui
