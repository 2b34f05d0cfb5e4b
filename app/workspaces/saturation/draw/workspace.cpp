#include <array>

#include "app/common/draw/draw.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/saturation/draw/panel.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

std::string draw_saturation_workspace(const view::AppState& state, const WorkArea& r,
                                      const Frame& frame, view::Actions& out) {
    const Box box{{r.work.low.x + r.margin, frame.px(16)},
                  {r.work.high.x - r.margin, r.work.high.y}};
    const view::SaturationView view = build_saturation_view(state);
    const Toolbar toolbar = r.chrome ? Toolbar::shown : Toolbar::hidden;
    panel("saturation", box, [&] { draw_saturation_panel(view, frame, out, toolbar); });
    return view.status;
}

/// Two axes and a curve that rises once.
void draw_saturation_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                          float thin) {
    constexpr int kSteps = 16;
    painter.line(low, {low.x, low.y + size}, color, thin);
    painter.line({low.x, low.y + size}, {low.x + size, low.y + size}, color, thin);
    std::array<view::Point, kSteps + 1> curve;
    for (int n = 0; n <= kSteps; ++n) {
        const float t = static_cast<float>(n) / kSteps;
        const float rise = t * t * (3.0F - 2.0F * t);
        curve[static_cast<std::size_t>(n)] = {low.x + thin + t * (size - thin),
                                              low.y + size * (0.9F - 0.8F * rise)};
    }
    painter.polyline(curve, color, thin * 1.5F);
}

extern const WorkspacePanel kSaturationPanel;
const WorkspacePanel kSaturationPanel{"saturation", draw_saturation_icon,
                                      draw_saturation_workspace};

}  // namespace attn::ui
