#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/draw/field_widgets.h"
#include "app/common/draw/parts.h"
#include "app/common/draw/plot.h"
#include "app/workspaces/positions/actions.h"
#include "app/workspaces/positions/view.h"

namespace attn::ui {
namespace {

using view::PositionsView;

// Design units.
constexpr float kSmallShare = 0.3F;  // of the height

/// As the window goes on with it, so that a journal can be read.
void push_changed(const PositionsView& view, const view::PositionsControls& changed,
                  view::Actions& out) {
    if (changed != view.controls)
        out.push_back(view::SetPositions{inside(changed, view.controls.settings.d_k)});
}

void draw_controls(const PositionsView& view, ControlBar& bar) {
    view::PositionsControls changed = view.controls;
    FieldWidgets controls(bar.frame, bar.out, [&](float width) { return bar.take(width); });
    describe(controls, changed);
    push_changed(view, changed, bar.out);
}

/// A plot of `kind` whose marker is the distance; what is taken hold of is told of.
void draw_distances(const PositionsView& view, const view::PlotView& plot, PositionKind kind,
                    const Box& at, const Frame& frame, view::Actions& out) {
    const bool small = plot.labels == view::CurveLabels::none;
    const std::string id = fmt::format("{} {}", small ? "plot" : "large", static_cast<int>(kind));
    const PlotInput input = draw_plot(plot, id.c_str(), at.low, at.high, false, frame);
    if (input.taken) out.push_back(view::BeginGesture{});
    view::PositionsControls changed = view.controls;
    if (input.taken) changed.kind = kind;
    if (input.moved_to) changed.distance = std::llround(*input.moved_to);
    changed.distance = std::max<Index>(0, changed.distance + input.steps);
    push_changed(view, changed, out);
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

std::string draw_positions_workspace(const view::AppState& state, const WorkArea& area,
                                     const Frame& frame, view::Actions& out) {
    const PositionsView view = build_positions_view(state);
    const Parts parts{.heading = {.headline = view.sentence, .why = view.note},
                      .hero = {"distances", "chosen encoding",
                               [&](const Box& box) {
                                   draw_distances(view, view.hero, view.controls.kind, box, frame,
                                                  out);
                               }},
                      .others = {{"kinds", "all encodings",
                                  [&](const Box& box) { draw_small(view, box, frame, out); },
                                  CanvasPart::Where::below, kSmallShare}},
                      .controls = [&](ControlBar& bar) { draw_controls(view, bar); }};
    return draw_parts(state, area, parts, frame, out);
}

}  // namespace

extern const WorkspacePanel kPositionsPanel{"positions", draw_positions_workspace};

}  // namespace attn::ui
