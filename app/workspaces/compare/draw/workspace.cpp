#include "app/common/document/requests.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/parts.h"
#include "app/common/format.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/view.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kPins = 340.0F, kStages = 130.0F, kTarget = 260.0F;
constexpr float kReachLine = 640.0F;  // from here on its words stand in lines
constexpr float kReachShare = 0.36F;  // of the canvas, beside one matrix

/// `count` of them from the n-th on; which pair is pointed at.
std::optional<large::Cell> draw_matrices(const CompareView& view, std::size_t n, std::size_t count,
                                         const Box& box, const Frame& frame, Actions& out) {
    const GridResult done = draw_grid_set(std::span(view.grids).subspan(n, count), box.low,
                                          box.high, frame, view.hovered);
    if (done.clicked) out.push_back(SelectCompareCell{done.clicked->row, done.clicked->column});
    return place_of(done.hovered);
}

void draw_compare_bar(const CompareView& view, ControlBar& bar) {
    Actions& out = bar.out;
    if (const auto n = bar.combo("##stage", {view.stage_names, view.stage}, kStages,
                                 {"Stage to compare", "Keys: PgUp, PgDn"}))
        out.push_back(ShowCompareStage{view.stages[*n]});
    if (bar.button("pin", "pin as baseline",
                   {"Pins the current state",
                    "Kept until the program ends, but not in a session. Key: B"}))
        out.push_back(PinBaseline{});
    if (view.pins.empty()) return;
    const auto now = static_cast<std::size_t>(view.baseline);
    if (const auto n =
            bar.combo("##pins", {view.pins, static_cast<int>(now), "baseline: " + view.pins[now]},
                      kPins, {"The baseline", "Keys: Shift+1 … Shift+9"}))
        out.push_back(ChooseBaseline{*n});
    const int shown = view.blink ? static_cast<int>(*view.blink) + 1 : 0;
    if (const auto n = bar.choice("blink", {"both", "baseline", "now"}, shown,
                                  {"Side by side, or in the same place", "Keys: Space, V"}))
        out.push_back(SetBlink{*n == 0 ? std::nullopt : std::optional<Index>(*n - 1)});
    if (bar.button("unpin", "unpin", {"Unpin the baseline", "Key: Delete"}))
        out.push_back(Unpin{view.baseline});
}

float reach_height(const CompareView& view) {
    const std::size_t lines = view.reach.missing_data.empty() ? 1 + view.reach.lines.size() : 1;
    return ImGui::GetFrameHeightWithSpacing() * static_cast<float>(lines);
}

/// What would give the selected weight another value.
void draw_reach(const CompareView& view, const Frame& frame, Actions& out) {
    const ReachView& reach = view.reach;
    if (!reach.missing_data.empty())
        return wrapped_text(frame, frame.fonts.body, frame.theme.muted, reach.missing_data);
    const bool narrow = ImGui::GetContentRegionAvail().x < frame.px(kReachLine);
    const auto line_of = [&](const Font& font, const std::string& text, float space) {
        if (narrow) return wrapped_text(frame, font, frame.theme.text, text);
        ImGui::AlignTextToFramePadding();
        put_text(frame, font, frame.theme.text, fit_text(frame, font, text, space));
    };
    if (narrow) line_of(frame.fonts.strong, reach.title, 0.0F);
    const Tip tip{"Target weight of the selected pair",
                  "Nothing changes until you press a button. Keys: U, D"};
    const std::string value = view::number(reach.target);
    const SliderText description_of{"target", value, "0.9999"};
    if (const auto target = real_slider(frame, "##target", description_of, reach.target, 0.001,
                                        0.999, frame.px(kTarget), tip, out))
        out.push_back(SetTargetWeight{*target});
    if (!narrow) {
        ImGui::SameLine(0.0F, frame.px(16));
        line_of(frame.fonts.strong, reach.title, ImGui::GetContentRegionAvail().x);
    }
    for (const ReachLine& line : reach.lines) {
        ImGui::PushID(line.title.c_str());
        const std::string text = line.title + ": " + line.text;
        const float button_space =
            line.applies ? button_width(frame, "apply") + frame.px(12) : 0.0F;
        line_of(frame.fonts.body, text, ImGui::GetContentRegionAvail().x - button_space);
        tooltip(frame, text, line.tip);
        if (line.applies) {
            if (!narrow) ImGui::SameLine(0.0F, frame.px(12));
            if (button(frame, "apply", "apply", {"Make this change", "One step of undo"}))
                out.push_back(ApplyTargetWeight{line.word});
        }
        ImGui::PopID();
    }
}

}  // namespace

std::string draw_compare_workspace(const AppState& state, const WorkArea& r, const Frame& frame,
                                   Actions& out) {
    const CompareView view = build_compare_view(state);
    Parts parts{.missing_data = view.missing_data, .heading = {view.point, view.point_b}};
    if (!view.missing_data.empty()) return draw_parts(state, r, parts, frame, out);
    parts.status = view::computed_text(state);
    parts.controls = [&](ControlBar& bar) { draw_compare_bar(view, bar); };
    std::optional<large::Cell> hovered;
    add_matrices(parts, view.grids, [&](const Box& box, std::size_t n, std::size_t count) {
        if (const auto cell = draw_matrices(view, n, count, box, frame, out)) hovered = cell;
    });
    // Right of a single matrix, else under the matrices.
    CanvasPart reach{"reach", "another weight",
                     [&](const Box&) { draw_reach(view, around(frame), out); }};
    if (view.grids.size() < 2) {
        reach.where = CanvasPart::Where::right;
        reach.share = kReachShare;
    } else {
        reach.where = CanvasPart::Where::below;
        reach.size = [&](ImVec2) { return reach_height(view); };
    }
    if (r.chrome) parts.others.push_back(std::move(reach));
    std::string status = draw_parts(state, r, parts, frame, out);
    if (hovered != view.hovered) out.push_back(HoverCompareCell{hovered});
    return status;
}

extern const WorkspacePanel kComparePanel{"compare", draw_compare_workspace};

}  // namespace attn::ui
