#include "app/workspaces/exercises/draw/sheets.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/typeset.h"
#include "app/common/math.h"
#include "app/workspaces/exercises/actions.h"

namespace attn::ui {
namespace {

using Card = view::ExercisesView::Card;

// Design units.
constexpr float kLeastWidth = 236.0F, kLeastHeight = 60.0F, kCardGap = 16.0F, kCardPad = 14.0F,
                kDot = 4.0F, kDotStep = 15.0F, kLine = 22.0F, kTall = 112.0F, kFormula = 30.0F;
constexpr int kMostColumns = 5;

Result<view::MathBox> set_formula(const std::string& tex, float px, const Frame& frame) {
    return view::lay_out_math(tex, {px, std::min(px, frame.px(kLeastText))}, frame.painter);
}

/// The largest size at which it has room; 0 where it could not be read.
float formula_size(const std::string& tex, const Box& box, const Frame& frame) {
    for (float px = frame.px(kFormula); px >= frame.px(kLeastText); px *= 0.9F) {
        const auto math = set_formula(tex, px, frame);
        if (math && math->width <= box.size().x && math->ascent + math->descent <= box.size().y)
            return px;
    }
    return 0.0F;
}

/// In the middle of the box.
void draw_formula(const std::string& tex, float px, const Box& box, const Frame& frame) {
    const auto math = set_formula(tex, px, frame);
    if (!math) return;
    const float height = math->ascent + math->descent;
    draw_math(*math,
              {box.low.x + (box.size().x - math->width) / 2,
               box.low.y + (box.size().y - height) / 2 + math->ascent},
              frame.theme, {}, frame.painter);
}

/// Beneath the title, over the dots or, in a low card, beside them.
Box formula_box(const Card& card, const Box& box, const Frame& frame) {
    const float pad = frame.px(kCardPad), line = frame.px(kLine), air = frame.px(kSpace8);
    const float dots = frame.px(kDotStep) * static_cast<float>(card.solved.size() + 1);
    if (box.size().y >= frame.px(kTall))
        return {{box.low.x + pad, box.low.y + pad + line},
                {box.high.x - pad, box.high.y - pad - line}};
    return {{box.low.x + 2 * pad + dots, box.low.y + air + line},
            {box.high.x - pad, box.high.y - air}};
}

void draw_dots(const Card& card, view::Point at, const Frame& frame) {
    const float radius = frame.px(kDot);
    for (const bool solved : card.solved) {
        const view::Point middle{at.x + radius, at.y};
        solved ? frame.painter.circle(middle, radius, frame.theme.good)
               : frame.painter.ring(middle, radius, frame.theme.control, frame.px(1.5F));
        at.x += frame.px(kDotStep);
    }
    if (std::ranges::count(card.solved, false) == 0)
        draw_fitted(frame, frame.fonts.strong, {at.x, at.y - frame.px(10)},
                    {at.x + frame.px(16), at.y + frame.px(10)}, Align::left, frame.theme.good, "✓");
}

/// True when it is chosen.
bool draw_card(const Card& card, float formula, const Box& box, const Frame& frame) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button(card.key.c_str(), box.size());
    const bool hovered = ImGui::IsItemHovered();
    const float round = frame.px(8), pad = frame.px(kCardPad), line = frame.px(kLine);
    frame.painter.rect(box.low, box.high, hovered ? frame.theme.raised : frame.theme.surface,
                       round);
    frame.painter.outline(box.low, box.high,
                          card.chosen || hovered ? frame.theme.accent : frame.theme.line,
                          frame.px(1), round);
    tooltip(frame, card.title, card.learn);
    const bool tall = box.size().y >= frame.px(kTall);
    const float top = box.low.y + (tall ? pad : frame.px(kSpace8));
    const float bottom = box.high.y - (tall ? pad : frame.px(kSpace8));
    draw_fitted(frame, frame.fonts.strong, {box.low.x + pad, top}, {box.high.x - pad, top + line},
                Align::left, frame.theme.text, card.title);
    draw_dots(card, {box.low.x + pad, bottom - line / 2}, frame);
    if (formula > 0.0F) draw_formula(card.formula, formula, formula_box(card, box, frame), frame);
    const bool pressed = pressed_by_key(frame);
    return clicked || pressed;
}

/// Every formula is of one size: the largest that all have room for which can be read. 0: it cannot.
std::vector<float> formula_sizes(const view::ExercisesView& view, const std::vector<Box>& boxes,
                                 const Frame& frame) {
    std::vector<float> sizes;
    float least = frame.px(kFormula);
    for (std::size_t n = 0; n < boxes.size(); ++n) {
        const Card& card = view.cards[n];
        sizes.push_back(formula_size(card.formula, formula_box(card, boxes[n], frame), frame));
        if (sizes.back() > 0.0F) least = std::min(least, sizes.back());
    }
    for (float& size : sizes) size = std::min(size, least);
    return sizes;
}

}  // namespace

void draw_sheets(const view::ExercisesView& view, const Box& box, const Frame& frame,
                 view::Actions& out) {
    const float gap = frame.px(kCardGap), width = box.size().x - frame.px(kSpace12);
    const auto fit = static_cast<int>((width + gap) / (frame.px(kLeastWidth) + gap));
    const int columns = within(fit, 1, kMostColumns);
    const auto count = static_cast<int>(view.cards.size());
    const int rows = (count + columns - 1) / columns;
    const auto each = [gap](float space, int n) {
        return std::floor((space - gap * static_cast<float>(n - 1)) / static_cast<float>(n));
    };
    const float across = each(width, columns);
    const float down =
        std::max(each(box.size().y - gap - frame.px(kSpace8), rows), frame.px(kLeastHeight));
    ImVec2 from = ImGui::GetCursorScreenPos();
    from.y += frame.px(kSpace8);
    std::vector<Box> boxes;
    for (int n = 0; n < count; ++n) {
        const ImVec2 low{from.x + static_cast<float>(n % columns) * (across + gap),
                         from.y + static_cast<float>(n / columns) * (down + gap)};
        boxes.push_back({low, {low.x + across, low.y + down}});
    }
    const std::vector<float> sizes = formula_sizes(view, boxes, frame);
    for (std::size_t n = 0; n < boxes.size(); ++n)
        if (draw_card(view.cards[n], sizes[n], boxes[n], frame))
            out.push_back(view::SetExercise{view.cards[n].key, view.exercise.seed});
    ImGui::SetCursorScreenPos({from.x, from.y + static_cast<float>(rows) * (down + gap) - gap});
    leave_space({1.0F, 1.0F});
}

}  // namespace attn::ui
