#include "app/workspaces/cost/draw/panel.h"

#include <algorithm>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/plot.h"
#include "app/workspaces/cost/draw/controls.h"

namespace attn::ui {
namespace {

using view::CostView;

// Design units.
constexpr float kGap = 14.0F;
constexpr float kCard = 72.0F;
constexpr float kLeastPlot = 210.0F;
constexpr float kTimes = 236.0F;
constexpr float kNarrow = 760.0F;  // below it the times stand under the table

void draw_words(const CostView& view, const Frame& frame) {
    wrapped_words(frame, frame.fonts.title, frame.theme.text, view.sentence);
    wrapped_words(frame, frame.fonts.small, frame.theme.muted, view.note);
    ImGui::Dummy({1.0F, frame.px(2)});
}

/// To whole tokens while the mouse holds it, to powers of two with the arrows.
void draw_curves(const CostView& view, const CostBox& at, const Frame& frame, view::Actions& out) {
    const PlotInput input = draw_plot(view.plot, "memory", at.low, at.high, false, frame);
    if (input.taken) out.push_back(view::BeginGesture{});
    Index to = view.tokens;
    if (input.moved_to) to = view::nearest_tokens(*input.moved_to);
    if (input.steps != 0) to = view::next_tokens(view.tokens, input.steps);
    if (to != view.tokens) out.push_back(view::SetCostTokens{to});
    if (input.let_go) out.push_back(view::EndGesture{});
}

void draw_card(const view::CostCardView& card, const CostBox& at, const Frame& frame,
               view::Actions& out) {
    ImGui::SetCursorScreenPos(at.low);
    const bool clicked = ImGui::InvisibleButton(card.title.c_str(),
                                                {std::max(1.0F, at.width()), at.high.y - at.low.y});
    const bool hovered = ImGui::IsItemHovered();
    if (clicked || pressed_by_key(frame)) out.push_back(view::SelectCost{card.item});
    const view::Theme& theme = frame.theme;
    frame.painter.rect(at.low, at.high, hovered ? theme.raised : theme.surface, frame.px(6));
    if (card.selected)
        frame.painter.outline(at.low, at.high, theme.accent, frame.px(1.5F), frame.px(6));
    const float pad = frame.px(10);
    const float left = at.low.x + pad;
    const float right = at.high.x - pad;
    float y = at.low.y + frame.px(6);
    const auto line = [&](const Font& font, float height, view::Color color, Align align,
                          const std::string& text) {
        draw_text_in(frame, font, {left, y}, {right, y + frame.px(height)}, align, color,
                     fit_text(frame, font, text, right - left));
    };
    line(frame.fonts.strong, 20, theme.role(card.role), Align::left, card.title);
    line(frame.fonts.strong, 20, card.fits ? theme.text : theme.bad, Align::right, card.value);
    y += frame.px(22);
    line(frame.fonts.digits_small, 18, theme.text, Align::left, card.formula);
    y += frame.px(19);
    line(frame.fonts.small, 16, theme.muted, Align::left, card.limit);
    tooltip(frame, card.title, "Click: its formula with its numbers.");
}

void draw_cards(const CostView& view, const CostBox& at, const Frame& frame, view::Actions& out) {
    const float gap = frame.px(8);
    const auto count = static_cast<float>(view.cards.size());
    const float width = (at.width() - gap * (count - 1.0F)) / count;
    for (std::size_t n = 0; n < view.cards.size(); ++n) {
        const float x = at.low.x + (width + gap) * static_cast<float>(n);
        draw_card(view.cards[n], {{x, at.low.y}, {x + width, at.high.y}}, frame, out);
    }
}

void draw_body(const CostView& view, const Frame& frame, view::Actions& out) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float gap = frame.px(kGap);
    const float table = cost_table_height(view, frame);
    const float below = frame.px(kCard) + table + 2 * gap;
    const float plot = std::max(room.y - below - frame.px(4), frame.px(kLeastPlot));
    const float right = low.x + room.x;
    draw_curves(view, {low, {right, low.y + plot}}, frame, out);
    const float cards = low.y + plot + gap;
    draw_cards(view, {{low.x, cards}, {right, cards + frame.px(kCard)}}, frame, out);
    const float top = cards + frame.px(kCard) + gap;
    const bool narrow = room.x < frame.px(kNarrow);
    const float split = narrow ? right : right - frame.px(kTimes);
    draw_cost_table(view, {{low.x, top}, {narrow ? right : split - gap, top + table}}, frame, out);
    const float times = narrow ? top + table + gap : top;
    draw_cost_times(view, {{narrow ? low.x : split, times}, {right, times + table}}, frame, out);
    ImGui::SetCursorScreenPos({low.x, times + table - 1.0F});
    ImGui::Dummy({1.0F, 1.0F});
}

}  // namespace

void draw_cost_panel(const CostView& view, const Frame& frame, view::Actions& out,
                     CostToolbar toolbar) {
    ImGui::BeginChild("cost", {0.0F, 0.0F}, false, ImGuiWindowFlags_NoBackground);
    if (toolbar == CostToolbar::shown) draw_cost_controls(view, around(frame), out);
    draw_words(view, frame);
    draw_body(view, frame, out);
    ImGui::EndChild();
}

}  // namespace attn::ui
