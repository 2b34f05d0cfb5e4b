#include <algorithm>
#include <span>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/grid_set.h"
#include "app/common/draw/items.h"
#include "app/common/draw/typing.h"
#include "app/workspaces/lookup/actions.h"
#include "app/workspaces/lookup/draw/parts.h"

namespace attn::ui {
namespace {

// Design units.
constexpr float kGridsGap = 10.0F, kChipPad = 10.0F;
constexpr float kMostChips = 0.3F;  // of the height

/// The tokens in their order, in lines.
struct Chips {
    std::vector<Box> boxes;
    float bottom = 0.0F;
};
Chips place_chips(const view::PermutationView& view, const Box& box, const Frame& frame) {
    Chips chips;
    const float gap = frame.px(6);
    float x = box.low.x;
    float y = box.low.y;
    for (const view::TokenChipView& chip : view.chips) {
        const float most = std::max(box.size().x, 1.0F);
        const float width =
            std::min(frame.text_width(frame.fonts.body, chip.label) + 2 * frame.px(kChipPad), most);
        if (x > box.low.x && x + width > box.high.x) x = box.low.x, y += frame.px(kChipRow) + gap;
        chips.boxes.push_back({{x, y}, {x + width, y + frame.px(kChipRow)}});
        x += width + gap;
    }
    chips.bottom = view.chips.empty() ? box.low.y : y + frame.px(kChipRow);
    return chips;
}

/// The place under the mouse: the chip next to it.
Index place_under_mouse(const Chips& chips) {
    const ImVec2 mouse = ImGui::GetMousePos();
    const auto distance = [&](const Box& box) {
        const float x = mouse.x - (box.low.x + box.high.x) / 2;
        const float y = mouse.y - (box.low.y + box.high.y) / 2;
        return x * x + 9.0F * y * y;  // a line counts more than a column
    };
    const auto nearest = std::ranges::min_element(chips.boxes, {}, distance);
    return nearest - chips.boxes.begin();
}

void draw_chip(const view::TokenChipView& chip, Index place, const Chips& chips, const Frame& frame,
               view::Actions& out) {
    const Box& box = chips.boxes[place];
    const view::Theme& theme = frame.theme;
    ImGui::SetCursorScreenPos(box.low);
    ImGui::PushID(static_cast<int>(chip.token));
    invisible_button("token", box.size());
    report_gesture(false, out);
    const bool held = ImGui::IsItemActive();
    const bool hovered = ImGui::IsItemHovered();
    if (held || hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (held && ImGui::IsMouseDragging(ImGuiMouseButton_Left, frame.px(4)))
        if (const Index to = place_under_mouse(chips); to != place)
            out.push_back(view::MoveToken{chip.token, to});
    if (!held)
        tooltip(frame, chip.label, "Drag it to another place, or focus it and press ← or →.");
    const int steps = focus_stop(frame) ? arrow_steps(frame) : 0;
    const Index next = place + steps;
    if (steps != 0 && next >= 0 && next < std::ssize(chips.boxes))
        out.push_back(view::MoveToken{chip.token, next});
    ImGui::PopID();
    draw_box(frame, box.low, box.high, held || hovered ? theme.raised : theme.surface);
    if (chip.moved)
        frame.painter.rect({box.low.x + frame.px(4), box.high.y - frame.px(3)},
                           {box.high.x - frame.px(4), box.high.y - frame.px(1)}, theme.accent);
    draw_fitted(frame, frame.fonts.body, box.low, box.high, Align::center, theme.text, chip.label);
}

float draw_chips(const view::PermutationView& view, const Box& box, const Frame& frame,
                 view::Actions& out) {
    const Chips chips = place_chips(view, box, frame);
    const float bottom = std::min(chips.bottom, box.low.y + box.size().y * kMostChips);
    panel("tokens", {box.low, {box.high.x, bottom}}, [&] {
        const Chips shown =
            place_chips(view, {ImGui::GetCursorScreenPos(), {box.high.x, box.high.y}}, frame);
        for (std::size_t n = 0; n < view.chips.size(); ++n)
            draw_chip(view.chips[n], static_cast<Index>(n), shown, frame, out);
    });
    return bottom;
}

/// `count` of the matrices from the n-th on.
void draw_grids(const view::LookupGridsView& view, std::size_t n, std::size_t count, const Box& box,
                LookupPages& to) {
    const std::span grids = std::span(view.grids).subspan(n, count);
    if (const auto clicked = draw_grid_set(grids, box.low, box.high, to.frame).clicked)
        to.out.push_back(view::SelectLookupCell{clicked->row, clicked->column});
}

}  // namespace

bool LookupPages::can_draw(const view::LookupGridsView& view) {
    parts.missing_data = view.missing_data;
    parts.heading = {view.point, {}, view.notes};
    return view.missing_data.empty();
}

void LookupPages::add(const view::SimilarityView& view) {
    if (!can_draw(view.body)) return;
    const auto& grids = view.body.grids;
    parts.hero = {"matrices", "matrices",
                  [&](const Box& box) { draw_grids(view.body, 0, grids.size(), box, *this); }};
    if (grids.size() > 1)
        parts.singles = parts_of(grids, [this, &view](const Box& box, std::size_t n) {
            draw_grids(view.body, n, 1, box, *this);
        });
}

void LookupPages::add(const view::PermutationView& view) {
    if (!can_draw(view.body)) return;
    add_matrices(parts, view.body.grids, [this, &view](Box box, std::size_t n, std::size_t count) {
        if (n + count == view.body.grids.size())  // over the hero
            box.low.y = draw_chips(view, box, frame, out) + frame.px(kGridsGap);
        draw_grids(view.body, n, count, box, *this);
    });
}

}  // namespace attn::ui
