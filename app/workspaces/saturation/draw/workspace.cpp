#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/items.h"
#include "app/common/draw/plot.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/draw/controls.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::SaturationView;

// Design units.
constexpr float kAside = 0.38F, kBelow = 0.34F;  // of the canvas
constexpr float kLeastBars = 120.0F, kMostBars = 300.0F;
constexpr float kBarsShare = 0.46F;  // of bars and Jacobians, at least

float width_of(const Box& box) { return box.high.x - box.low.x; }

// --- below the large plot

/// A plot whose marker is d_k.
void draw_followed(const view::PlotView& plot, const char* id, const Box& box,
                   const SaturationView& view, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, view.stale, frame);
    follow<view::SetSaturationWidth>(input, view.controls.d_k, view::nearest_stop, view::next_stop,
                                     out);
}

void draw_small_plots(const SaturationView& view, const Box& at, const Frame& frame,
                      view::Actions& out) {
    const float gap = frame.px(kSpace12);
    const auto count = static_cast<float>(view.plots.size());
    const float width = (width_of(at) - gap * (count - 1.0F)) / count;
    for (std::size_t n = 0; n < view.plots.size(); ++n) {
        const float x = at.low.x + static_cast<float>(n) * (width + gap);
        draw_followed(view.plots[n], ("plot " + std::to_string(n)).c_str(),
                      {{x, at.low.y}, {x + width, at.high.y}}, view, frame, out);
    }
}

/// One sentence, and below it the plot by the raw score beside more numbers.
void draw_details(const SaturationView& view, const Box& at, const Frame& frame,
                  view::Actions& out) {
    ImGui::SetCursorScreenPos(at.low);
    begin_child("details words", {width_of(at), frame.px(40)},
                ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
    wrapped_text(frame, frame.fonts.body, frame.theme.text, view.details.sentence);
    ImGui::EndChild();
    const float top = at.low.y + frame.px(44);
    const float middle = at.low.x + width_of(at) * 0.46F;
    draw_followed(view.details.raw, "raw plot",
                  {{at.low.x, top}, {middle - frame.px(kSpace24), at.high.y}}, view, frame, out);
    draw_row_numbers(view.details, {{middle, top}, at.high}, frame);
}

// --- beside it

/// Table, bars, Jacobians, downwards; the Jacobians as large as their width allows.
void draw_aside(const SaturationView& view, const Box& at, const Frame& frame) {
    draw_median_table(view.table, at.low, width_of(at), frame);
    const float gap = frame.px(kSpace24);
    const float half = (width_of(at) - gap) / 2;
    const float top = at.low.y + median_table_height(frame) + frame.px(kSpace12);
    draw_fitted(frame, frame.fonts.body, {at.low.x, top}, {at.high.x, top + frame.px(kTableRow)},
                Align::left, frame.theme.text, view.row_caption);
    const float bars = top + frame.px(kTableRow);
    const float wanted = jacobian_height(view.scaled, half, frame);
    const float space = at.high.y - bars - frame.px(kSpace12);
    const float least = std::max(frame.px(kLeastBars), space * kBarsShare);
    const float height = within(space - wanted, least, frame.px(kMostBars));
    const float jacobians = bars + height + frame.px(kSpace12);
    for (const view::SaturationSideView* side : {&view.scaled, &view.unscaled}) {
        const float x = side == &view.scaled ? at.low.x : at.low.x + half + gap;
        draw_side_bars(*side, {{x, bars}, {x + half, bars + height}}, frame);
        draw_side_jacobian(*side, {{x, jacobians}, {x + half, at.high.y}}, frame);
    }
}

}  // namespace

std::string draw_saturation_workspace(const view::AppState& state, const WorkArea& r,
                                      const Frame& frame, view::Actions& out) {
    const view::SaturationView view = build_saturation_view(state);
    Parts parts{.heading = {view.sentence, view.note},
                .controls = [&](ControlBar& bar) { draw_saturation_controls(view, bar); },
                .status = view.status};
    parts.heading.stale = view.stale;
    if (view.gradients) {
        parts.heading.muted = view.gradients->closing;
        parts.heading.notes = {view.note};
        add_gradients(*view.gradients, parts, frame, out);
        return draw_parts(state, r, parts, frame, out);
    }
    parts.heading.tex = view.tex;
    parts.hero = {"hero", "gradient over d_k",
                  [&](const Box& box) { draw_hero(view.hero, box, view.stale, frame, out); }};
    parts.others = {
        {"aside", "bars and Jacobians", [&](const Box& box) { draw_aside(view, box, frame); },
         CanvasPart::Where::right, kAside},
        {"below", view.look.raw ? "details" : "small plots",
         [&](const Box& box) {
             view.look.raw ? draw_details(view, box, frame, out)
                           : draw_small_plots(view, box, frame, out);
         },
         CanvasPart::Where::below, kBelow}};
    return draw_parts(state, r, parts, frame, out);
}

extern const WorkspacePanel kSaturationPanel{"saturation", draw_saturation_workspace};

}  // namespace attn::ui
