#include <algorithm>
#include <cmath>

#include "app/common/draw/around.h"
#include "app/common/draw/field_widgets.h"
#include "app/common/draw/plot.h"
#include "app/common/draw/point.h"
#include "app/workspaces/positions/actions.h"
#include "app/workspaces/positions/view.h"

namespace attn::ui {
namespace {

using view::PositionsView;

// Design units.
constexpr float kSmallShare = 0.3F;  // of the height
constexpr float kLeastSmall = 150.0F, kLeastHero = 200.0F;

void draw_controls(const PositionsView& view, const Frame& frame, view::Actions& out) {
    view::SetPositions action{view.controls};
    FieldWidgets controls(frame, out);
    describe(controls, action.to);
    if (action.to != view.controls) out.push_back(action);
}

/// A plot of `kind` whose marker is the distance; what is taken hold of is told of.
void draw_distances(const PositionsView& view, const view::PlotView& plot, PositionKind kind,
                    const Box& at, const Frame& frame, view::Actions& out) {
    const std::string id = "plot " + plot.title;
    const PlotInput input = draw_plot(plot, id.c_str(), at.low, at.high, false, frame);
    if (input.taken) out.push_back(view::BeginGesture{});
    view::SetPositions action{view.controls};
    if (input.taken) action.to.kind = kind;
    if (input.moved_to) action.to.distance = std::llround(*input.moved_to);
    action.to.distance = std::max<Index>(0, action.to.distance + input.steps);
    if (action.to != view.controls) out.push_back(action);
    if (input.let_go) out.push_back(view::EndGesture{});
}

/// All kinds in a row; what is told of has a frame.
void draw_small(const PositionsView& view, const Box& at, const Frame& frame, view::Actions& out) {
    const float gap = frame.px(kSpace12);
    const float pad = frame.px(kSpace8);
    const auto count = static_cast<float>(view.plots.size());
    const float width = (at.size().x - gap * (count - 1.0F)) / count;
    for (std::size_t n = 0; n < view.plots.size(); ++n) {
        const float x = at.low.x + (width + gap) * static_cast<float>(n);
        const auto kind = static_cast<PositionKind>(n);
        const bool chosen = kind == view.controls.kind;
        frame.painter.outline({x, at.low.y}, {x + width, at.high.y},
                              chosen ? frame.theme.accent : frame.theme.line,
                              frame.px(chosen ? 1.5F : 1.0F), frame.px(6));
        draw_distances(view, view.plots[n], kind,
                       {{x + pad, at.low.y + pad}, {x + width - pad, at.high.y - pad / 2}}, frame,
                       out);
    }
}

void draw_body(const PositionsView& view, const Frame& frame, view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = frame.px(kSpace12);
    const float small = std::max(room.y * kSmallShare, frame.px(kLeastSmall));
    const float hero = std::max(room.y - small - 2 * gap, frame.px(kLeastHero));
    const float right = low.x + room.x;
    draw_distances(view, view.hero, view.controls.kind, {low, {right, low.y + hero}}, frame, out);
    const float top = low.y + hero + gap;
    draw_small(view, {{low.x, top}, {right, top + small}}, frame, out);
    ImGui::SetCursorScreenPos({low.x, top + small - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

std::string draw_positions_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const PositionsView view = build_positions_view(state);
    panel("positions", canvas_box(area, frame.px(16)), [&] {
        if (area.chrome) draw_controls(view, around(frame), out);
        draw_sentence(view.sentence, view.note, frame);
        draw_body(view, frame, out);
    });
    side_inspector(state, area, {}, frame, out);
    return view.status;
}

}  // namespace

extern const WorkspacePanel kPositionsPanel;
const WorkspacePanel kPositionsPanel{"positions", draw_positions_workspace};

}  // namespace attn::ui
