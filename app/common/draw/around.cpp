#include "app/common/draw/around.h"

#include "app/common/draw/draw.h"
#include "app/common/draw/inspector.h"
#include "app/common/workspace.h"

namespace attn::ui {

void side_inspector(const view::AppState& state, const WorkArea& area, std::optional<float> bar,
                    const Frame& frame, view::Actions& out) {
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
