#include "app/common/draw/draw.h"
#include "app/common/draw/widgets.h"
#include "app/workspaces/masks/draw/parts.h"

namespace attn::ui {
namespace {

using view::MasksView;

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

}  // namespace

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

}  // namespace attn::ui
