#include "app/ui/common/draw.h"
#include "app/ui/common/widgets.h"
#include "app/ui/heads/parts.h"

namespace attn::ui {
namespace {

using view::AllHeadsView;

// Design units.
constexpr float kSort = 168.0F;
constexpr float kRange = 230.0F;

void label(const Frame& frame, const char* text) {
    ImGui::AlignTextToFramePadding();
    words(frame, frame.fonts.body, frame.theme.muted, text);
    ImGui::SameLine(0.0F, frame.px(8));
}

void draw_sort(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    label(frame, "sort by");
    const std::string shown = now.sort < static_cast<int>(now.sort_names.size())
                                  ? now.sort_names[static_cast<std::size_t>(now.sort)]
                                  : std::string();
    const Tip tip{"The order of the small pictures", "Largest first. Keys: N, Shift+N"};
    if (const auto n =
            combo(frame, "##sort", {now.sort_names, now.sort, shown}, frame.px(kSort), tip, out))
        out.push_back(view::SortHeads{now.sort_keys[static_cast<std::size_t>(*n)]});
}

void draw_range(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    flow(frame, frame.px(kRange));
    label(frame, "colours");
    const Tip tip{"Where the colours end",
                  "At 1 for all heads, or at each head's largest weight. "
                  "Key: O"};
    if (const auto n =
            choice(frame, "range", {"same", "own"}, view.controls.own_range ? 1 : 0, tip))
        out.push_back(view::SetHeadsRange{*n == 1});
}

void draw_pins(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    const view::HeadsControls& now = view.controls;
    const std::string words = now.pinned ? "unpin" : "pin";
    flow(frame, button_width(frame, words));
    const Tip tip{now.pinned ? "Unpin the head that is shown" : "Pin the head that is shown",
                  "Two that are pinned are compared. Key: Space"};
    if (button(frame, "pin", words, tip))
        out.push_back(view::PinHead{view.here.layer, view.here.head, !now.pinned});
    if (!now.compares) return;
    flow(frame, button_width(frame, "swap A and B"));
    if (button(frame, "swap", "swap A and B", {"A and B change places", "Key: X"}))
        out.push_back(view::SwapPins{});
}

}  // namespace

void draw_heads_bar(const AllHeadsView& view, const Frame& frame, view::Actions& out) {
    draw_sort(view, frame, out);
    draw_range(view, frame, out);
    draw_pins(view, frame, out);
    flow(frame, button_width(frame, "copy CSV"));
    if (button(frame, "csv", "copy CSV", {"Copy the measures of every head", "Key: C"}))
        out.push_back(view::CopyHeadMeasures{});
}

}  // namespace attn::ui
