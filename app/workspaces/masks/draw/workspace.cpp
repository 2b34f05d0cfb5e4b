#include <algorithm>

#include "app/common/document/requests.h"
#include "app/common/draw/around.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/point.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/masks/draw/parts.h"
#include "app/workspaces/masks/workspace.h"

namespace attn::ui {
namespace {

using view::MasksView;

// Design units.
constexpr float kNote = 22.0F;
constexpr float kWorkspaceGap = 12.0F;
constexpr float kWorkspaceFoot = 8.0F;
constexpr float kMostControls = 0.42F;  // of the height

constexpr float kCopies = 260.0F;  // design units

/// Words before a control, on its line.
void label(const Frame& frame, const char* text) {
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted, text);
}

/// What is looked at, where there are several.
void draw_places(const MasksView& view, const Frame& frame, view::Actions& out) {
    const view::MaskControls& now = view.controls;
    if (now.heads > 1) {
        const float width = number_width(frame, "head", now.heads - 1);
        flow(frame, width);
        if (const auto head = number_field(frame, "##head", "head", now.head, 0, now.heads - 1,
                                           width, {"The head that is shown", "Key: H"}, out))
            out.push_back(view::ShowHead{*head, now.batch});
    }
    if (now.batches < 2) return;
    const float width = number_width(frame, "sequence", now.batches - 1);
    flow(frame, width);
    if (const auto batch =
            number_field(frame, "##batch", "sequence", now.batch, 0, now.batches - 1, width,
                         {"The sequence of the batch that is shown", ""}, out))
        out.push_back(view::ShowHead{now.head, *batch});
}

void draw_empty_rows(const MasksView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"What softmax gives a row whose keys are all forbidden",
                  "0 everywhere, or NaN everywhere."};
    flow(frame, frame.px(240));
    label(frame, "empty rows give");
    ImGui::SameLine(0.0F, frame.px(8));
    if (const auto n = choice(frame, "empty", {"0", "NaN"}, view.controls.nan ? 1 : 0, tip))
        out.push_back(view::SetEmptyRows{*n == 1});
}

void draw_gain(const MasksView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"Scores, times",
                  "What the conventions make of larger scores: the document stays as it is."};
    flow(frame, frame.px(360));
    label(frame, "scores");
    ImGui::SameLine(0.0F, frame.px(8));
    if (const auto n = choice(frame, "gain", view.gain_names, view.gain, tip))
        out.push_back(view::SetConventionGain{view.gains[static_cast<std::size_t>(*n)]});
}

/// Where the row has room for them: keys and palette copy too.
void draw_copies(const Frame& frame, view::Actions& out) {
    ImGui::SameLine(0.0F, frame.px(16));
    if (ImGui::GetContentRegionAvail().x < frame.px(kCopies)) return ImGui::NewLine();
    label(frame, "copy mask as");
    ImGui::SameLine(0.0F, frame.px(8));
    if (button(frame, "numpy", "numpy", {"Code that makes this mask", "Key: N"}))
        out.push_back(view::CopyMask{view::MaskCode::numpy});
    ImGui::SameLine(0.0F, frame.px(4));
    if (button(frame, "pytorch", "PyTorch", {"Code that makes this mask", "Key: Shift+N"}))
        out.push_back(view::CopyMask{view::MaskCode::pytorch});
}

void draw_masks_bar(const MasksView& view, const Frame& frame, view::Actions& out) {
    const Tip tip{"This document's mask, or other conventions beside it", "Key: V"};
    const auto n =
        choice(frame, "tab", {"Compose", "Conventions"}, static_cast<int>(view.tab), tip);
    if (n) out.push_back(view::ShowMasksTab{static_cast<view::MasksTab>(*n)});
    draw_places(view, frame, out);
    if (view.tab == view::MasksTab::compose)
        draw_empty_rows(view, frame, out);
    else
        draw_gain(view, frame, out);
    draw_copies(frame, out);
}

/// Beneath the matrices: a line each.
void draw_notes(const MasksView& view, const Box& box, const Frame& frame) {
    float y = box.low.y;
    for (const std::string& note : view.notes) {
        draw_text_in(frame, frame.fonts.body, {box.low.x, y}, {box.high.x, y + frame.px(kNote)},
                     Align::left, frame.theme.text,
                     fit_text(frame, frame.fonts.body, note, box.size().x));
        y += frame.px(kNote);
    }
}

/// What sets the mask, or the conventions; scrolls where it has not its whole height.
void draw_controls(const MasksView& view, float width, float whole, const Frame& frame,
                   view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + std::min(width, ImGui::GetContentRegionAvail().x), low.y + whole};
    view.tab == view::MasksTab::compose ? draw_switches(view, low, high, frame, out)
                                        : draw_lists(view, low, high, frame, out);
    ImGui::SetCursorScreenPos({low.x, high.y - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

/// First line, matrices, notes, and what sets them.
void draw_body(const MasksView& view, const Box& box, bool chrome, const Frame& frame,
               view::Actions& out) {
    const float top = draw_point(view.point, box, frame, view.warns) + frame.px(kWorkspaceGap) / 2;
    const bool compose = view.tab == view::MasksTab::compose;
    const float width = box.size().x;
    const float whole = !chrome   ? 0.0F
                        : compose ? switches_height(width, box.size().y, frame)
                                  : lists_height(view, width, frame);
    const float controls = std::min(whole, box.size().y * kMostControls);
    const float notes = frame.px(kNote) * static_cast<float>(view.notes.size());
    const float foot = box.high.y - frame.px(kWorkspaceFoot) - controls;
    const float grids = foot - notes - frame.px(kWorkspaceGap);
    const float end = draw_pair_grids(view, {box.low.x, top}, {box.high.x, grids}, frame, out);
    const float beneath = std::min(end + frame.px(kWorkspaceGap), grids);
    draw_notes(view, {{box.low.x, beneath}, {box.high.x, beneath + notes}}, frame);
    if (!chrome) return;
    // Near what they change, and at the same place when a note comes.
    const float near = beneath + std::max(notes, frame.px(kNote) * 3) + frame.px(kWorkspaceGap);
    const float at = std::min(foot, near);
    panel("controls", {{box.low.x, at}, {box.high.x, at + controls}},
          [&] { draw_controls(view, width, whole, around(frame), out); });
}

}  // namespace

std::string draw_masks_workspace(const view::AppState& state, const WorkArea& r, const Frame& frame,
                                 view::Actions& out) {
    if (draw_lacks(view::masks_lacks(state), r, frame)) return {};
    const MasksView view = build_masks_view(state);
    const float top = bar_panel(r, frame.px(kRoomBar), frame,
                                [&](const Frame& chrome) { draw_masks_bar(view, chrome, out); });
    const Box box = canvas_box(r, top + frame.px(kWorkspaceGap));
    panel("masks", box, [&] { draw_body(view, box, r.chrome, frame, out); });
    side_inspector(state, r, top, frame, out);
    return view::computed_words(state);
}

/// Cells under a diagonal, and those that it leaves out.
void draw_masks_icon(view::Painter& painter, view::Point low, float size, view::Color color,
                     float thin) {
    const float step = size / 3;
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) {
            const view::Point a{low.x + step * static_cast<float>(column),
                                low.y + step * static_cast<float>(row)};
            const view::Point b{a.x + step - thin * 2, a.y + step - thin * 2};
            if (column <= row)
                painter.rect(a, b, color);
            else
                painter.line({a.x, b.y}, {b.x, a.y}, color, thin);
        }
}

extern const WorkspacePanel kMasksPanel;
const WorkspacePanel kMasksPanel{"masks", draw_masks_icon, draw_masks_workspace};

}  // namespace attn::ui
