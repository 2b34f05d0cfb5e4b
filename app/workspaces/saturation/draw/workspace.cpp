#include <algorithm>
#include <array>

#include "app/common/draw/draw.h"
#include "app/common/draw/math.h"
#include "app/common/draw/plot.h"
#include "app/workspaces/saturation/draw/controls.h"
#include "app/workspaces/saturation/draw/parts.h"

namespace attn::ui {
namespace {

using view::SaturationView;

// Design units.
constexpr float kWords = 48.0F;  // height of the formula and the words beside it
constexpr float kLeft = 0.62F;   // of the width: the curves
constexpr float kHero = 0.6F;    // of the workspace's height
constexpr float kLeastHero = 260.0F, kLeastPlot = 124.0F, kDetails = 236.0F;
constexpr float kNarrowest = 900.0F;   // below it what stands beside the curves goes under them
constexpr float kNarrowSide = 640.0F;  // height of that
constexpr float kLeastBars = 120.0F, kMostBars = 300.0F;
constexpr float kBarsShare = 0.46F;  // of bars and Jacobians, at least

float width_of(const Box& box) { return box.high.x - box.low.x; }

// --- words

/// The formula on the left of the words, in the middle of their height; its width with the gap.
float draw_formula_beside(const SaturationView& view, float height, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const auto box =
        fitted_math(frame, view.tex, kFormulaSize, ImGui::GetContentRegionAvail().x / 3);
    if (!box) {
        frame.painter.text(frame.fonts.strong, at, frame.theme.text, view.formula);
        return frame.text_width(frame.fonts.strong, view.formula) + frame.px(kSpace24);
    }
    const float slack = std::max(height - box->ascent - box->descent, 0.0F) / 2;
    draw_formula(frame, *box, {at.x, at.y + slack + box->ascent});
    return box->width + frame.px(kSpace24);
}

/// Headline and muted line, and where the four are not shown the formula beside them.
void draw_words(const SaturationView& view, const Frame& frame) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float height = frame.px(kWords);
    const float left = view.gradients ? 0.0F : draw_formula_beside(view, height, frame);
    ImGui::SetCursorScreenPos({at.x + left, at.y});
    ImGui::BeginGroup();
    const view::Color color = view.stale ? frame.theme.muted : frame.theme.text;
    wrapped_words(frame, frame.fonts.title, color, view.sentence);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, view.note);
    ImGui::EndGroup();
    const float end = std::max(ImGui::GetItemRectMax().y, at.y + height);
    ImGui::SetCursorScreenPos({at.x, end + frame.px(4)});
}

// --- below the large plot

/// A plot whose marker is d_k.
void draw_followed(const view::PlotView& plot, const char* id, const Box& box,
                   const SaturationView& view, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(plot, id, box.low, box.high, view.stale, frame);
    const Index d_k = view.controls.d_k;
    if (input.taken) out.push_back(view::BeginGesture{});
    Index to = input.moved_to ? view::nearest_stop(*input.moved_to) : d_k;
    if (input.steps != 0) to = view::next_stop(d_k, input.steps);
    if (to != d_k) out.push_back(view::SetSaturationWidth{to});
    if (input.let_go) out.push_back(view::EndGesture{});
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
    ImGui::BeginChild("details words", {width_of(at), frame.px(40)}, false,
                      ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
    wrapped_words(frame, frame.fonts.body, frame.theme.text, view.details.sentence);
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
    const float room = at.high.y - bars - frame.px(kSpace12);
    const float least = std::max(frame.px(kLeastBars), room * kBarsShare);
    const float height = within(room - wanted, least, frame.px(kMostBars));
    const float jacobians = bars + height + frame.px(kSpace12);
    for (const view::SaturationSideView* side : {&view.scaled, &view.unscaled}) {
        const float x = side == &view.scaled ? at.low.x : at.low.x + half + gap;
        draw_side_bars(*side, {{x, bars}, {x + half, bars + height}}, frame);
        draw_side_jacobian(*side, {{x, jacobians}, {x + half, at.high.y}}, frame);
    }
}

// --- layout

/// What stands where below the words, in pixels.
struct Layout {
    Box hero, below, aside;
};

/// `whole`: height of the workspace.
Layout make_layout(const SaturationView& view, float whole, const Frame& frame) {
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = frame.px(kSpace12);
    const bool wide = room.x >= frame.px(kNarrowest);
    const float left = wide ? std::round(room.x * kLeft) : room.x;
    const float least = frame.px(view.look.raw ? kDetails : kLeastPlot);
    const float most = std::max(room.y - gap - least, frame.px(kLeastHero));
    const float hero = within(whole * kHero, frame.px(kLeastHero), most);
    const float below = std::max(room.y - hero - gap, least);
    Layout at;
    at.hero = {origin, {origin.x + left, origin.y + hero}};
    at.below = {{origin.x, at.hero.high.y + gap}, {origin.x + left, at.hero.high.y + gap + below}};
    if (wide)
        at.aside = {{origin.x + left + frame.px(kSpace24), origin.y},
                    {origin.x + room.x, at.below.high.y}};
    else
        at.aside = {{origin.x, at.below.high.y + gap},
                    {origin.x + room.x, at.below.high.y + gap + frame.px(kNarrowSide)}};
    return at;
}

void draw_body(const SaturationView& view, float whole, const Frame& frame, view::Actions& out) {
    const Layout at = make_layout(view, whole, frame);
    draw_hero(view.hero, at.hero, view.stale, frame, out);
    if (view.look.raw)
        draw_details(view, at.below, frame, out);
    else
        draw_small_plots(view, at.below, frame, out);
    draw_aside(view, at.aside, frame);
    ImGui::SetCursorScreenPos({at.hero.low.x, at.aside.high.y - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

/// Scrolls where it does not fit.
void draw_saturation_panel(const SaturationView& view, bool controls, const Frame& frame,
                           view::Actions& out) {
    const float whole = ImGui::GetContentRegionAvail().y;
    ImGui::BeginChild("saturation", {0.0F, 0.0F}, false, ImGuiWindowFlags_NoBackground);
    if (controls) draw_saturation_controls(view, around(frame), out);
    draw_words(view, frame);
    if (view.gradients)
        draw_gradients_page(*view.gradients, whole, frame, out);
    else
        draw_body(view, whole, frame, out);
    ImGui::EndChild();
}

}  // namespace

std::string draw_saturation_workspace(const view::AppState& state, const WorkArea& r,
                                      const Frame& frame, view::Actions& out) {
    const Box box{{r.work.low.x + r.margin, frame.px(16)},
                  {r.work.high.x - r.margin, r.work.high.y}};
    const view::SaturationView view = build_saturation_view(state);
    panel("saturation", box, [&] { draw_saturation_panel(view, r.chrome, frame, out); });
    return view.status;
}

extern const WorkspacePanel kSaturationPanel;
const WorkspacePanel kSaturationPanel{"saturation", draw_saturation_workspace};

}  // namespace attn::ui
