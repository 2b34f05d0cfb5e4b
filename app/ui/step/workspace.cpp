#include <algorithm>

#include "app/ui/common/draw.h"
#include "app/ui/common/inspector.h"
#include "app/ui/step/canvas.h"
#include "app/ui/workspaces.h"
#include "app/view/document/requests.h"
#include "app/view/step/workspace.h"

namespace attn::ui {
namespace {

constexpr float kRibbon = 56.0F;  // design units

void hairline(ImVec2 from, ImVec2 to, const Frame& frame) {
    frame.painter.line(from, to, frame.theme.line, frame.px(1));
}

/// Controls and ribbon; returns where they end.
float draw_top(const view::StepView& view, const WorkArea& r, const Frame& frame,
               view::Actions& out) {
    const Box& work = r.work;
    ImGui::SetCursorScreenPos({work.low.x + r.margin, frame.px(12)});
    ImGui::BeginGroup();
    draw_controls(view.controls, frame, out);
    ImGui::EndGroup();
    const float top = ImGui::GetItemRectMax().y + frame.px(12);
    hairline({work.low.x, top}, {work.high.x, top}, frame);
    const Box ribbon{{work.low.x + r.margin, top + frame.px(1)},
                     {work.high.x - r.margin, top + frame.px(1 + kRibbon)}};
    panel("ribbon", ribbon, [&] { draw_ribbon(view.ribbon, frame, out); });
    hairline({work.low.x, ribbon.high.y}, {work.high.x, ribbon.high.y}, frame);
    return ribbon.high.y;
}

}  // namespace

std::string draw_step_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                view::Actions& out) {
    const view::StepView view = build_step_view(state);
    const Box& work = r.work;
    const float top = draw_top(view, r, around(frame), out);
    const float split = work.high.x - r.inspector;
    frame.around.rect({split, top + frame.px(1)}, work.high, frame.theme.surface);
    std::optional<view::CellRef> hovered;
    const float above = std::min(r.margin, frame.px(16));
    panel("canvas", {{work.low.x + r.margin, top + above}, {split - r.margin, work.high.y}},
          [&] { hovered = draw_canvas(view, state.step.editing, frame, out); });
    const Box side{{split + r.margin, top + above}, {work.high.x - frame.px(4), work.high.y}};
    // as wide with a scroll bar as without: words keep clear of it, and nothing moves when it comes
    ImGui::SetNextWindowContentSize(
        {side.size().x - ImGui::GetStyle().ScrollbarSize - frame.px(6), 0.0F});
    panel("inspector", side, [&] {
        const auto linked = draw_inspector(step_inspector(state), around(frame), out);
        if (linked) hovered = linked;
    });
    if (hovered != state.step.hovered) out.push_back(view::HoverCell{hovered});
    return view::computed_words(state);
}

void draw_step_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                    float thin) {
    const float step = size / 3;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const view::Point a{low.x + step * static_cast<float>(column),
                                low.y + step * static_cast<float>(row)};
            const view::Point b{a.x + step - thin * 2, a.y + step - thin * 2};
            if (row == column) painter.rect(a, b, color);
            if (row != column) painter.outline(a, b, color, thin);
        }
}

}  // namespace attn::ui
