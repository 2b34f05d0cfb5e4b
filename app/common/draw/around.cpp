#include "app/common/draw/around.h"

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/inspector.h"
#include "app/common/workspace.h"

namespace attn::ui {

void open_inspector(const view::AppState& state, const WorkArea& area, view::Actions& out) {
    if (!area.chrome || area.has_side() || !state.narrow) return;
    if (!view::shown_workspace(state).has_side(state)) return;
    const bool selected = std::ranges::any_of(out, [](const view::Action& action) {
        return view::name_of(action).starts_with("select_");
    });
    if (selected) out.push_back(view::ShowInspector{true});
}

void side_inspector(const view::AppState& state, const WorkArea& area, std::optional<float> bar,
                    const Frame& frame, view::Actions& out) {
    open_inspector(state, area, out);
    side_panel(area, bar, "inspector", frame, [&](const Frame& beside) {
        draw_inspector(view::shown_workspace(state).inspector(state), beside, out);
    });
}

Box canvas_box(const WorkArea& area, float top, float foot) {
    return {{area.work.low.x + area.margin, top},
            {area.work.high.x - area.margin - area.inspector, area.work.high.y - foot}};
}

bool draw_lacks(const std::string& lacks, const WorkArea& area, const Frame& frame) {
    if (lacks.empty()) return false;
    panel("lacks", canvas_box(area, area.work.low.y + frame.px(16)),
          [&] { wrapped_words(frame, frame.fonts.title, frame.theme.muted, lacks); });
    return true;
}

}  // namespace attn::ui
