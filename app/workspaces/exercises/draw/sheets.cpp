#include "app/workspaces/exercises/draw/sheets.h"

#include <algorithm>
#include <cmath>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/math.h"
#include "app/workspaces/exercises/actions.h"

namespace attn::ui {
namespace {

using Card = view::ExercisesView::Card;

// Design units.
constexpr float kLeastWidth = 236.0F, kLeastHeight = 60.0F, kCardGap = 16.0F, kCardPad = 14.0F,
                kDot = 4.0F, kDotStep = 15.0F, kLine = 22.0F, kTall = 112.0F, kFormula = 30.0F,
                kLeastFormula = 12.0F;
constexpr int kMostColumns = 5;

/// In the middle of the box, as large as it has room; too small to be read: not at all.
void draw_formula(const std::string& tex, const Box& box, const Frame& frame) {
    for (float px = frame.px(kFormula); px >= frame.px(kLeastFormula); px *= 0.9F) {
        const auto math =
            view::lay_out_math(tex, {px, std::min(px, frame.px(kLeastFormula))}, frame.painter);
        if (!math) return;
        const float height = math->ascent + math->descent;
        if (math->width > box.size().x || height > box.size().y) continue;
        const view::Point at{box.low.x + (box.size().x - math->width) / 2,
                             box.low.y + (box.size().y - height) / 2 + math->ascent};
        return draw_math(*math, at, frame.theme, {}, frame.painter);
    }
}

/// Returns where they end.
float draw_dots(const Card& card, view::Point at, const Frame& frame) {
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
    return at.x + frame.px(16);
}

void draw_card(const Card& card, const Box& box, std::uint64_t seed, const Frame& frame,
               view::Actions& out) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = ImGui::InvisibleButton(card.key.c_str(), box.size());
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
    const float foot = box.high.y - (tall ? pad : frame.px(kSpace8));
    draw_fitted(frame, frame.fonts.strong, {box.low.x + pad, top}, {box.high.x - pad, top + line},
                Align::left, frame.theme.text, card.title);
    const float dots = draw_dots(card, {box.low.x + pad, foot - line / 2}, frame);
    const Box room = tall ? Box{{box.low.x + pad, top + line}, {box.high.x - pad, foot - line}}
                          : Box{{dots + pad, top + line}, {box.high.x - pad, foot}};
    draw_formula(card.formula, room, frame);
    const bool pressed = pressed_by_key(frame);
    if (clicked || pressed) out.push_back(view::SetExercise{card.key, seed});
}

}  // namespace

void draw_sheets(const view::ExercisesView& view, const Box& box, const Frame& frame,
                 view::Actions& out) {
    const float gap = frame.px(kCardGap), width = box.size().x - frame.px(kSpace12);
    const auto fit = static_cast<int>((width + gap) / (frame.px(kLeastWidth) + gap));
    const int columns = within(fit, 1, kMostColumns);
    const auto count = static_cast<int>(view.cards.size());
    const int rows = (count + columns - 1) / columns;
    const auto each = [gap](float room, int n) {
        return std::floor((room - gap * static_cast<float>(n - 1)) / static_cast<float>(n));
    };
    const float across = each(width, columns);
    const float down =
        std::max(each(box.size().y - gap - frame.px(kSpace8), rows), frame.px(kLeastHeight));
    ImVec2 from = ImGui::GetCursorScreenPos();
    from.y += frame.px(kSpace8);
    for (int n = 0; n < count; ++n) {
        const ImVec2 low{from.x + static_cast<float>(n % columns) * (across + gap),
                         from.y + static_cast<float>(n / columns) * (down + gap)};
        draw_card(view.cards[static_cast<std::size_t>(n)], {low, {low.x + across, low.y + down}},
                  view.exercise.seed, frame, out);
    }
    ImGui::SetCursorScreenPos({from.x, from.y + static_cast<float>(rows) * (down + gap) - gap});
    ImGui::Dummy({1.0F, 1.0F});
}

}  // namespace attn::ui
