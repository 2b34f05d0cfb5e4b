#include <algorithm>

#include "app/common/document/requests.h"
#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/point.h"
#include "app/common/draw/widgets.h"
#include "app/common/format.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/view.h"

namespace attn::ui {
namespace {

using view::CompareView, view::GridView;

// Design units.
constexpr float kMostReach = 0.35F;  // of the height
constexpr float kLowBody = 260.0F;   // below it the controls have one line
constexpr float kPins = 340.0F, kStages = 130.0F, kTarget = 260.0F;

void draw_matrices(const CompareView& view, const Box& box, const Frame& frame,
                   view::Actions& out) {
    const GridResult done = draw_grid_set(view.grids, box.low, box.high, frame, view.hovered);
    if (done.clicked)
        out.push_back(view::SelectCompareCell{done.clicked->row, done.clicked->column});
    if (const auto hovered = place_of(done.hovered); hovered != view.hovered)
        out.push_back(view::HoverCompareCell{hovered});
}

void draw_compare_pins(const CompareView& view, const Frame& frame, view::Actions& out) {
    if (button(frame, "pin", "pin as baseline",
               {"What is shown becomes the baseline A",
                "Kept until the program ends, not in a session. Key: B, here and where B is free"}))
        out.push_back(view::PinBaseline{});
    if (view.pins.empty()) return;
    flow(frame, frame.px(kPins));
    const auto now = static_cast<std::size_t>(view.baseline);
    if (const auto n =
            combo(frame, "##pins", {view.pins, static_cast<int>(now), "A: " + view.pins[now]},
                  frame.px(kPins), {"The baseline A", "Keys: Shift+1 … Shift+9"}, out))
        out.push_back(view::ChooseBaseline{*n});
    flow(frame, button_width(frame, "unpin"));
    if (button(frame, "unpin", "unpin", {"Unpin the baseline", "Key: Delete"}))
        out.push_back(view::Unpin{view.baseline});
    flow(frame, frame.px(150));
    const int shown = view.blink ? static_cast<int>(*view.blink) + 1 : 0;
    if (const auto n = choice(frame, "blink", {"both", "A", "B"}, shown,
                              {"Beside each other, or in the same place", "Keys: Space, V"}))
        out.push_back(view::SetBlink{*n == 0 ? std::nullopt : std::optional<Index>(*n - 1)});
}

void draw_compare_bar(const CompareView& view, const Frame& frame, view::Actions& out) {
    if (const auto n = combo(frame, "##stage", {view.stage_names, view.stage}, frame.px(kStages),
                             {"The stage that is compared", "Keys: PgUp, PgDn"}, out))
        out.push_back(view::ShowCompareStage{view.stages[static_cast<std::size_t>(*n)]});
    ImGui::SameLine(0.0F, frame.px(12));
    draw_compare_pins(view, frame, out);
}

/// Of so many lines of draw_reach().
float reach_height(std::size_t lines, const Frame& frame) {
    return ImGui::GetFrameHeightWithSpacing() * static_cast<float>(lines) + frame.px(14);
}

/// What would give the selected weight another value.
void draw_reach(const CompareView& view, const Frame& frame, view::Actions& out) {
    const view::ReachView& reach = view.reach;
    if (!reach.lacks.empty())
        return wrapped_words(frame, frame.fonts.body, frame.theme.muted, reach.lacks);
    const Tip tip{"The weight that the selected pair is to have",
                  "Nothing is changed until a button is pressed. Keys: U, D"};
    const std::string value = view::number(reach.target);
    const SliderWords words_of{"target", value, "0.9999"};
    if (const auto target = real_slider(frame, "##target", words_of, reach.target, 0.001, 0.999,
                                        frame.px(kTarget), tip, out))
        out.push_back(view::SetTargetWeight{*target});
    ImGui::SameLine(0.0F, frame.px(16));
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.strong, frame.theme.text,
          fit_text(frame, frame.fonts.strong, reach.title, ImGui::GetContentRegionAvail().x));
    for (const view::ReachLine& line : reach.lines) {
        ImGui::PushID(line.title.c_str());
        ImGui::AlignTextToFramePadding();
        const float room = ImGui::GetContentRegionAvail().x -
                           (line.applies ? button_width(frame, "apply") + frame.px(12) : 0.0F);
        words(frame, frame.fonts.body, frame.theme.text,
              fit_text(frame, frame.fonts.body, line.title + ": " + line.words, room));
        tooltip(frame, line.title + ": " + line.words, line.tip);
        if (line.applies) {
            ImGui::SameLine(0.0F, frame.px(12));
            if (button(frame, "apply", "apply", {"Make this change", "One step of undo"}))
                out.push_back(view::ApplyTargetWeight{line.word});
        }
        ImGui::PopID();
    }
}

void draw_compare_body(const CompareView& view, const Box& box, bool chrome, const Frame& frame,
                       view::Actions& out) {
    ImGui::PushID("first");
    float top = draw_point(view.point, box, frame);
    ImGui::PopID();
    ImGui::PushID("second");
    if (!view.point_b.empty()) top = draw_point(view.point_b, {{box.low.x, top}, box.high}, frame);
    top += frame.px(kSpace8);
    ImGui::PopID();
    const float foot = box.high.y - frame.px(kSpace8);
    // Where there is little room the matrices have the most of it, and the controls scroll.
    const bool low = foot - top < frame.px(kLowBody);
    const std::size_t lines = view.reach.lacks.empty() ? 1 + view.reach.lines.size() : 1;
    const float most = low ? reach_height(1, frame) : (foot - top) * kMostReach;
    const float controls = chrome ? std::min(reach_height(lines, frame), most) : 0.0F;
    const Box hero{{box.low.x, top}, {box.high.x, std::max(foot - controls, top + 1.0F)}};
    panel("matrices", hero, [&] { draw_matrices(view, hero, frame, out); });
    if (!chrome) return;
    panel("reach", {{box.low.x, hero.high.y + frame.px(4)}, {box.high.x, foot}},
          [&] { draw_reach(view, around(frame), out); });
}

}  // namespace

std::string draw_compare_workspace(const view::AppState& state, const WorkArea& r,
                                   const Frame& frame, view::Actions& out) {
    const CompareView view = build_compare_view(state);
    if (draw_lacks(view.lacks, r, frame)) return {};
    const float top = bar_panel(r, frame.px(kRoomBar), frame,
                                [&](const Frame& chrome) { draw_compare_bar(view, chrome, out); });
    const Box box = canvas_box(r, top + frame.px(12));
    panel("compare", box, [&] { draw_compare_body(view, box, r.chrome, frame, out); });
    side_inspector(state, r, top, frame, out);
    return view::computed_words(state);
}

extern const WorkspacePanel kComparePanel;
const WorkspacePanel kComparePanel{"compare", draw_compare_workspace};

}  // namespace attn::ui
