#include "app/workspaces/exercises/draw/sheets.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typeset.h"
#include "app/common/math.h"
#include "app/workspaces/exercises/actions.h"

namespace attn::ui {
namespace {

using Card = view::ExercisesView::Card;

// Design units.
constexpr float kLeastWidth = 196.0F, kLeastHeight = 124.0F, kMostHeight = 420.0F;
constexpr float kCardGap = 16.0F, kCardPad = 14.0F, kDot = 4.0F, kDotStep = 15.0F;
constexpr float kLine = 20.0F, kChapter = 30.0F, kFormula = 26.0F, kWideFormula = 40.0F;
constexpr std::size_t kMostLines = 5;  // of a question
constexpr float kWide = 340.0F;        // a card whose question is large

/// Cards of one chapter, in the order of the sheets.
struct Chapter {
    std::string title;
    std::vector<std::size_t> cards;
};

std::vector<Chapter> chapters_of(const std::vector<Card>& cards) {
    std::vector<Chapter> chapters;
    for (std::size_t n = 0; n < cards.size(); ++n) {
        auto found = std::ranges::find(chapters, cards[n].chapter, &Chapter::title);
        if (found == chapters.end()) {
            chapters.push_back({cards[n].chapter, {}});
            found = std::prev(chapters.end());
        }
        found->cards.push_back(n);
    }
    return chapters;
}

// ---- the question

std::vector<std::string> wrapped(const std::string& text, const view::Font& font, float width,
                                 const Frame& frame) {
    std::vector<std::string> lines(1);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        const std::string longer = lines.back().empty() ? word : lines.back() + " " + word;
        if (lines.back().empty() || frame.text_width(font, longer) <= width)
            lines.back() = longer;
        else
            lines.push_back(word);
        at = end + 1;
    }
    if (lines.size() > kMostLines) lines.resize(kMostLines);
    return lines;
}

// ---- the formula

Result<view::MathBox> set_formula(const std::string& tex, float px, const Frame& frame) {
    return view::lay_out_math(tex, {px, std::min(px, frame.px(kLeastText))}, frame.painter);
}

/// Left in the box, in the middle of its height, where it has room at a size that can be read.
void draw_formula(const std::string& tex, const Box& box, const Frame& frame) {
    if (tex.empty()) return;
    const float most = box.size().x >= frame.px(kWide - 2 * kCardPad) ? kWideFormula : kFormula;
    for (float px = frame.px(most); px >= frame.px(kSmallFormula); px *= 0.9F) {
        const auto math = set_formula(tex, px, frame);
        if (!math) return;
        const float height = math->ascent + math->descent;
        if (math->width > box.size().x || height > box.size().y) continue;
        draw_math(*math, {box.low.x, box.low.y + (box.size().y - height) / 2 + math->ascent},
                  frame.theme, {}, frame.painter);
        return;
    }
}

// ---- a card

/// One for each question of the sheet, at the right end.
void draw_dots(const Card& card, view::Point right, const Frame& frame) {
    const float radius = frame.px(kDot), step = frame.px(kDotStep);
    float x = right.x - step * static_cast<float>(card.solved.size() - 1) - radius;
    for (const bool solved : card.solved) {
        solved ? frame.painter.circle({x, right.y}, radius, frame.theme.good)
               : frame.painter.ring({x, right.y}, radius, frame.theme.control, frame.px(1.5F));
        x += step;
    }
}

void draw_content(const Card& card, const Box& box, const Frame& frame) {
    const float pad = frame.px(kCardPad), line = frame.px(kLine);
    const float left = box.low.x + pad, right = box.high.x - pad;
    float y = box.low.y + frame.px(kSpace12);
    const bool solved = !card.solved.empty() && std::ranges::count(card.solved, false) == 0;
    draw_fitted(frame, frame.fonts.small, {left, y}, {right, y + line}, Align::left,
                frame.theme.muted, card.about);
    if (solved)
        draw_fitted(frame, frame.fonts.strong, {left, y}, {right, y + line}, Align::right,
                    frame.theme.good, "✓");
    y += line + frame.px(kSpace4);
    const bool wide = box.size().x >= frame.px(kWide);
    const Font& font = wide ? frame.fonts.headline : frame.fonts.strong;
    const float step = wide ? frame.px(kLine * 1.4F) : line;
    for (const std::string& text : wrapped(card.question, font, right - left, frame)) {
        draw_text_in(frame, font, {left, y}, {right, y + step}, Align::left, frame.theme.text,
                     text);
        y += step;
    }
    const float bottom_line = box.high.y - frame.px(kSpace8) - line;
    draw_formula(card.formula,
                 {{left, y + frame.px(kSpace4)}, {right, bottom_line - frame.px(kSpace4)}}, frame);
    draw_fitted(frame, frame.fonts.small, {left, bottom_line}, {right, bottom_line + line},
                Align::left, frame.theme.muted, card.effort);
    if (!card.solved.empty()) draw_dots(card, {right, bottom_line + line / 2}, frame);
}

/// True when it is chosen.
bool draw_card(const Card& card, const Box& box, const Frame& frame) {
    ImGui::SetCursorScreenPos(box.low);
    const bool clicked = invisible_button(card.key.c_str(), box.size());
    const bool hovered = ImGui::IsItemHovered();
    const float round = frame.px(8);
    frame.painter.rect(box.low, box.high, hovered ? frame.theme.raised : frame.theme.surface,
                       round);
    frame.painter.outline(box.low, box.high,
                          card.chosen || hovered ? frame.theme.accent : frame.theme.line,
                          frame.px(1), round);
    tooltip(frame, card.title, card.learn);
    draw_content(card, box, frame);
    // The cards are a table of contents: data, as the rows of a table are.
    record_rect_for_tests(frame.painter, Measuring::Kind::labels, box.low, box.high);
    const bool pressed = pressed_by_key(frame);
    return clicked || pressed;
}

// ---- their places

/// Chapters are columns where all have room side by side; else rows of their cards.
struct Layout {
    int columns = 1;
    bool upright = true;
    float width = 0.0F, height = 0.0F;  // of a card
};

Layout layout_of(const std::vector<Chapter>& chapters, ImVec2 space, const Frame& frame) {
    const float gap = frame.px(kCardGap);
    const auto fit = static_cast<int>((space.x + gap) / (frame.px(kLeastWidth) + gap));
    std::size_t most = 1;
    for (const Chapter& chapter : chapters) most = std::max(most, chapter.cards.size());
    Layout layout;
    layout.upright = fit >= static_cast<int>(chapters.size());
    layout.columns =
        layout.upright ? static_cast<int>(chapters.size()) : within(fit, 1, static_cast<int>(most));
    const auto each = [gap](float whole, int n) {
        return std::floor((whole - gap * static_cast<float>(n - 1)) / static_cast<float>(n));
    };
    layout.width = each(space.x, std::max(layout.columns, 1));
    layout.height = layout.upright
                        ? within(each(space.y - frame.px(kChapter), static_cast<int>(most)),
                                 frame.px(kLeastHeight), frame.px(kMostHeight))
                        : frame.px(kLeastHeight);
    return layout;
}

}  // namespace

void draw_sheets(const view::ExercisesView& view, const Box& box, const Frame& frame,
                 view::Actions& out) {
    const std::vector<Chapter> chapters = chapters_of(view.cards);
    const float gap = frame.px(kCardGap), head = frame.px(kChapter);
    const Layout layout = layout_of(
        chapters, {box.size().x - frame.px(kSpace12), box.size().y - frame.px(kSpace16)}, frame);
    const ImVec2 from = ImGui::GetCursorScreenPos();
    ImVec2 at = from;
    float bottom = from.y;
    for (const Chapter& chapter : chapters) {
        draw_fitted(frame, frame.fonts.strong, at, {at.x + layout.width, at.y + head}, Align::left,
                    frame.theme.text, chapter.title);
        for (std::size_t n = 0; n < chapter.cards.size(); ++n) {
            const auto k = static_cast<int>(n);
            const int column = layout.upright ? 0 : k % layout.columns;
            const int row = layout.upright ? k : k / layout.columns;
            const ImVec2 low{at.x + static_cast<float>(column) * (layout.width + gap),
                             at.y + head + static_cast<float>(row) * (layout.height + gap)};
            const ImVec2 high{low.x + layout.width, low.y + layout.height};
            const Card& card = view.cards[chapter.cards[n]];
            if (draw_card(card, {low, high}, frame))
                out.push_back(view::SetExercise{card.key, view.exercise.seed});
            bottom = std::max(bottom, high.y);
        }
        at = layout.upright ? ImVec2{at.x + layout.width + gap, from.y}
                            : ImVec2{from.x, bottom + gap};
    }
    ImGui::SetCursorScreenPos({from.x, bottom});
    leave_space({1.0F, 1.0F});
}

}  // namespace attn::ui
