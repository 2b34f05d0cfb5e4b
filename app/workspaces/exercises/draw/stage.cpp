#include "app/workspaces/exercises/draw/stage.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/draw/draw.h"
#include "app/common/draw/focus.h"
#include "app/common/draw/items.h"
#include "app/common/draw/measured.h"
#include "app/common/draw/typeset.h"
#include "app/common/draw/typing.h"
#include "app/common/draw/widgets.h"
#include "app/common/exercise/page.h"
#include "app/common/math.h"
#include "app/workspaces/exercises/actions.h"

namespace attn::ui {
namespace {

using view::EntryMark;
using view::ExerciseBlock;
using view::ExerciseParagraph;
using view::ExercisesView;
using view::ExerciseType;
using view::ExerciseVoice;

// Design units.
constexpr float kTwoColumns = 820.0F;  // width of a canvas with two columns
constexpr float kGivenShare = 0.44F;   // of its width
constexpr float kPad = 28.0F, kLowPad = 16.0F, kGap = 24.0F, kParagraph = 8.0F;
constexpr float kMostCell = 128.0F, kLeastCell = 26.0F, kCellStep = 0.92F;
constexpr std::size_t kFewPieces = 12;  // of a paragraph; a longer one is a sentence
constexpr float kTile = 96.0F, kTileWidth = 168.0F;
constexpr float kMostFormula = 34.0F;
constexpr float kButton = 38.0F, kNumber = 13.0F, kNumberStep = 34.0F, kBar = 4.0F;
constexpr float kEndless = 1e6F;  // a line that never breaks
constexpr float kAbove =
    4.0F;  // of the free height, the reciprocal of the part that is above the question
constexpr float kChoice = 68.0F, kChoicePad = 20.0F, kSideChoice = 40.0F;
/// Of the question, and of its blanks: the first with which the stage has room.
struct Sizes {
    float text, blanks, help;
};
constexpr Sizes kSizes[] = {{28.0F, 34.0F, 16.0F}, {28.0F, 28.0F, 16.0F}, {20.0F, 24.0F, 16.0F},
                            {20.0F, 20.0F, 16.0F}, {16.0F, 18.0F, 14.0F}, {16.0F, 16.0F, 14.0F}};

view::Color edge_of(std::optional<EntryMark> mark, const Frame& frame) {
    if (!mark || *mark == EntryMark::empty) return frame.theme.control;
    return *mark == EntryMark::right ? frame.theme.good : frame.theme.bad;
}

float height_of(const std::vector<ExerciseBlock>& blocks, float gap) {
    float height = 0.0F;
    for (const ExerciseBlock& block : blocks) height += block.height + gap;
    return height;
}

bool has_matrix(const ExerciseParagraph& paragraph) {
    return std::ranges::any_of(paragraph, [](const auto& piece) { return !piece.matrix.empty(); });
}

// ---- the given numbers

/// The given text with its matrices; counts are in tiles.
class Given {
  public:
    Given(const ExercisesView& view, const Frame& frame, float width)
        : view_(view), frame_(frame), width_(width) {}

    /// As large as fits in the height.
    void lay_out(float height) {
        for (float cell = kMostCell; cell >= kLeastCell; cell *= kCellStep) {
            blocks_ = blocks_at(frame_.px(cell));
            const bool narrow = std::ranges::all_of(
                blocks_, [&](const ExerciseBlock& block) { return block.width <= width_; });
            if (narrow && this->height() <= height) return;
        }
    }
    float height() const { return height_of(blocks_, gap()) - gap() + tiles_height(); }
    void draw(ImVec2 at, float height) {
        // Words at the top; matrices, a formula and tiles in the middle of the free height.
        const ImVec2 top = at;
        float text = 0.0F, rest = 0.0F;
        for (std::size_t n = 0; n < blocks_.size(); ++n)
            (is_word(n) ? text : rest) += blocks_[n].height + gap();
        rest += tiles_height();
        at.y = top.y + text + std::max(0.0F, (height - text - rest) / 2);
        float y = top.y;
        for (std::size_t n = 0; n < blocks_.size(); ++n) {
            const ExerciseBlock& block = blocks_[n];
            const float x = is_word(n) ? top.x : top.x + std::max(0.0F, (width_ - block.width) / 2);
            float& line = is_word(n) ? y : at.y;
            draw_exercise_block(block, {x, line}, frame_.theme, frame_.painter);
            if (!block.cells.empty()) record_cells(block, {x, line});
            line += block.height + gap();
        }
        draw_tiles({top.x, at.y});
    }

  private:
    float gap() const { return frame_.px(kParagraph * 2); }
    bool is_word(std::size_t n) const { return n < view_.exercise.text.size() && !matrix_[n]; }
    void record_cells(const ExerciseBlock& block, ImVec2 at) const {
        for (const auto& cell : block.cells)
            record_rect_for_tests(frame_.painter, Measuring::Kind::cells,
                                  {at.x + cell.low.x, at.y + cell.low.y},
                                  {at.x + cell.high.x, at.y + cell.high.y});
    }

    std::vector<ExerciseBlock> blocks_at(float cell) {
        std::vector<ExerciseBlock> blocks;
        matrix_.clear();
        for (const ExerciseParagraph& paragraph : view_.exercise.text) {
            matrix_.push_back(has_matrix(paragraph) && paragraph.size() < kFewPieces);
            const ExerciseType type =
                matrix_.back()
                    ? ExerciseType{std::max(cell * 0.4F, frame_.fonts.body.px), width_, cell}
                    : ExerciseType{frame_.fonts.title.px * 0.8F, width_};
            blocks.push_back(lay_out_paragraph(paragraph, type, frame_.painter));
        }
        if (std::ranges::count(matrix_, true) == 0) blocks.push_back(formula());
        return blocks;
    }
    /// The subject of the sheet, where it has no matrix.
    ExerciseBlock formula() const {
        for (const auto& card : view_.cards)
            if (card.key == view_.exercise.key)
                return lay_out_paragraph({{card.formula, true}}, {frame_.px(kMostFormula), width_},
                                         frame_.painter);
        return {};
    }

    int tile_columns() const {
        const float gap = frame_.px(kSpace12);
        return std::max(1, static_cast<int>((width_ + gap) / (frame_.px(kTileWidth) + gap)));
    }
    float tiles_height() const {
        const auto count = static_cast<int>(view_.exercise.quantities.size());
        if (count == 0) return 0.0F;
        const int rows = (count + tile_columns() - 1) / tile_columns();
        return static_cast<float>(rows) * frame_.px(kTile + kSpace12);
    }
    void draw_tiles(ImVec2 at) const {
        const float gap = frame_.px(kSpace12);
        const auto count = static_cast<int>(view_.exercise.quantities.size());
        const int columns = std::min(tile_columns(), std::max(count, 1));
        const auto across = static_cast<float>(columns);
        const float width = std::floor((width_ - gap * (across - 1.0F)) / across);
        for (int n = 0; n < count; ++n) {
            const ImVec2 low{at.x + static_cast<float>(n % columns) * (width + gap),
                             at.y + static_cast<float>(n / columns) * (frame_.px(kTile) + gap)};
            draw_tile(view_.exercise.quantities[n], low, width);
        }
    }
    void draw_tile(const view::ExerciseQuantity& quantity, ImVec2 low, float width) const {
        const ImVec2 high{low.x + width, low.y + frame_.px(kTile)};
        frame_.painter.rect(low, high, frame_.theme.raised, frame_.px(6));
        const float middle = low.y + frame_.px(kTile * 0.58F), pad = frame_.px(kSpace12);
        draw_fitted(frame_, frame_.fonts.headline, {low.x + pad, low.y + frame_.px(kSpace12)},
                    {high.x - pad, middle}, Align::center, frame_.theme.text, quantity.value);
        draw_fitted(frame_, frame_.fonts.body, {low.x + pad, middle},
                    {high.x - pad, high.y - frame_.px(kSpace12)}, Align::center, frame_.theme.muted,
                    quantity.label);
    }

    const ExercisesView& view_;
    const Frame& frame_;
    float width_;
    std::vector<ExerciseBlock> blocks_;
    std::vector<bool> matrix_;  // of each paragraph
};

// ---- the question

class Stage {
  public:
    Stage(const ExercisesView& view, const Frame& frame, view::Actions& out)
        : view_(view), frame_(frame), out_(out) {}

    /// As large as fits in the height; else small, and scrolled.
    void lay_out(ImVec2 space) {
        width_ = space.x;
        for (const Sizes& sizes : kSizes) {
            sizes_ = sizes;
            if (fits(space.y)) return;
        }
    }
    float height() const {
        const float below = feedback_height();
        return unanswered_height() + (below > 0.0F ? frame_.px(kGap) + below : 0.0F);
    }

    void draw(ImVec2 at, float height) {
        ImGui::PushID(static_cast<int>(view_.question));
        const float bottom = at.y + std::max(height, this->height());
        // A part of the free height is above the question; the result of a check moves nothing while it fits.
        at.y += std::max(
            0.0F, std::min((height - unanswered_height()) / kAbove, height - this->height()));
        draw_text_in(frame_, frame_.fonts.body, at, {at.x + width_, at.y + frame_.fonts.body.px},
                     Align::left, frame_.theme.muted,
                     fmt::format("Question {} of {}", view_.question + 1, view_.questions.size()));
        at.y += eyebrow();
        for (const ExerciseBlock& block : text()) {
            draw_exercise_block(block, at, frame_.theme, frame_.painter);
            at.y += block.height + gap();
        }
        at.y += frame_.px(kParagraph);
        choices() > 0 ? draw_choices(at) : draw_blanks(at);
        at.y += answer_height() - frame_.px(kParagraph) + frame_.px(kGap);
        draw_buttons(at);
        at.y += frame_.px(kButton + kGap);
        draw_feedback(at);
        ImGui::PopID();
        draw_links({at.x, bottom - frame_.px(kButton)});
    }

  private:
    /// Without the result of a check, a hint and a solution.
    float unanswered_height() const {
        return eyebrow() + height_of(text(), gap()) + answer_height() +
               frame_.px(kGap + kButton + kGap + kButton);
    }
    const view::ExerciseQuestion& question() const {
        return view_.exercise.questions[static_cast<std::size_t>(view_.question)];
    }
    const ExercisesView::Question& shown() const {
        return view_.questions[static_cast<std::size_t>(view_.question)];
    }
    bool is_right() const { return shown().checked && shown().checked->right; }
    bool is_last() const { return view_.question + 1 == std::ssize(view_.questions); }
    std::size_t choices() const { return question().choices.size(); }
    std::optional<EntryMark> mark_of(std::size_t blank) const {
        if (!shown().checked) return std::nullopt;
        return shown().checked->marks[blank];
    }

    float gap() const { return frame_.px(kParagraph); }
    float eyebrow() const { return frame_.fonts.body.px + frame_.px(kSpace12); }
    bool fits(float height) const {
        for (const ExerciseBlock& block : text())
            if (block.width > width_) return false;
        return (choices() > 0 || blanks_width() <= width_) && this->height() <= height;
    }
    /// Of the label and the blanks on one line; their precision may be on the next.
    float blanks_width() const {
        const float px = frame_.px(sizes_.blanks);
        const ExerciseBlock block = lay_out_blanks(question(), {px, kEndless}, frame_.painter);
        return block.blanks.back().high.x + px * 0.6F;
    }
    std::vector<ExerciseBlock> text() const {
        std::vector<ExerciseBlock> blocks;
        for (const ExerciseParagraph& paragraph : question().text)
            blocks.push_back(
                lay_out_paragraph(paragraph, {frame_.px(sizes_.text), width_}, frame_.painter));
        return blocks;
    }
    ExerciseBlock blanks() const {
        return lay_out_blanks(question(),
                              {frame_.px(sizes_.blanks), width_, 0.0F, frame_.fonts.body.px},
                              frame_.painter);
    }
    std::vector<ExerciseBlock> laid_out(const std::vector<ExerciseParagraph>& text) const {
        std::vector<ExerciseBlock> blocks;
        for (const ExerciseParagraph& paragraph : text)
            blocks.push_back(lay_out_paragraph(
                paragraph,
                {frame_.px(sizes_.help), width_ - 2 * frame_.px(kSpace16) - frame_.px(kBar)},
                frame_.painter));
        return blocks;
    }

    // ---- answers

    float answer_height() const {
        const float above = frame_.px(kParagraph);
        if (choices() == 0) return above + blanks().height;
        const float step = frame_.px(choice_height() + kSpace12);
        return above + step * static_cast<float>(choice_rows()) - frame_.px(kSpace12);
    }
    float choice_height() const { return sizes_.text >= 20.0F ? kChoice : kSideChoice; }
    const Font& choice_font() const {
        return sizes_.text >= 20.0F ? frame_.fonts.title : frame_.fonts.body;
    }
    /// Beside each other where all texts fit, else below each other.
    std::size_t choice_rows() const { return choice_width() > 0.0F ? 1 : choices(); }
    float choice_width() const {
        const auto count = static_cast<float>(choices());
        const float each =
            std::floor((width_ - frame_.px(kSpace12) * (count - 1.0F)) / std::max(count, 1.0F));
        const float text =
            frame_.widest(choice_font(), question().choices) + frame_.px(2 * kChoicePad + kSpace24);
        return text <= each ? each : 0.0F;
    }

    void enter(Index row, Index column, std::string text) {
        out_.push_back(view::EnterAnswer{view_.question, row, column, std::move(text)});
    }

    void draw_choices(ImVec2 at) {
        const float across = choice_width(), height = frame_.px(choice_height());
        for (std::size_t n = 0; n < choices(); ++n) {
            const ImVec2 high{at.x + (across > 0.0F ? across : width_), at.y + height};
            draw_choice(n, at, high);
            if (across > 0.0F)
                at.x = high.x + frame_.px(kSpace12);
            else
                at.y = high.y + frame_.px(kSpace12);
        }
    }
    /// A click chooses and checks.
    void draw_choice(std::size_t n, ImVec2 low, ImVec2 high) {
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos(low);
        const bool clicked = invisible_button("choice", {high.x - low.x, high.y - low.y});
        const bool hovered = ImGui::IsItemHovered();
        const bool pressed = pressed_by_key(frame_);
        ImGui::PopID();
        const view::Theme& theme = frame_.theme;
        const bool chosen = shown().entries[0] == std::to_string(n);
        const auto mark = chosen ? mark_of(0) : std::nullopt;
        const view::Color edge = mark      ? edge_of(mark, frame_)
                                 : chosen  ? theme.accent
                                 : hovered ? theme.text
                                           : theme.control;
        frame_.painter.rect(low, high, chosen || hovered ? theme.raised : theme.surface,
                            frame_.px(8));
        frame_.painter.outline(low, high, edge, frame_.px(chosen ? 2.0F : 1.0F), frame_.px(8));
        const float pad = frame_.px(kChoicePad);
        draw_fitted(frame_, choice_font(), {low.x + pad, low.y}, {high.x - pad, high.y},
                    Align::left, theme.text, question().choices[n]);
        if (mark)
            draw_text_in(frame_, frame_.fonts.title, low, {high.x - pad, high.y}, Align::right,
                         edge, *mark == EntryMark::right ? "✓" : "✗");
        if (!clicked && !pressed) return;
        enter(0, 0, std::to_string(n));
        out_.push_back(view::CheckAnswer{view_.question});
    }

    void draw_blanks(ImVec2 at) {
        const ExerciseBlock block = blanks();
        if (question().answer.is_number() && question().label.empty())
            at.x -= block.blanks.front().low.x;  // no brackets
        draw_exercise_block(block, at, frame_.theme, frame_.painter);
        for (std::size_t b = 0; b < block.blanks.size(); ++b) {
            ExerciseBlock::Blank blank = block.blanks[b];
            blank.low = {at.x + blank.low.x, at.y + blank.low.y};
            blank.high = {at.x + blank.high.x, at.y + blank.high.y};
            record_rect_for_tests(frame_.painter, Measuring::Kind::cells, blank.low, blank.high);
            ImGui::PushID(static_cast<int>(b));
            const bool entered = draw_entry(blank, b);
            ImGui::PopID();
            if (entered) go_on(b);
        }
    }
    /// To the next blank that is empty; once none is, the answer is checked.
    void go_on(std::size_t from) {
        const std::size_t count = shown().entries.size();
        for (std::size_t step = 1; step < count; ++step) {
            const std::size_t next = (from + step) % count;
            if (!shown().entries[next].empty()) continue;
            ImGui::PushID(static_cast<int>(next));
            begin_typing(ImGui::GetID("entry"), "", out_);
            return ImGui::PopID();
        }
        out_.push_back(view::CheckAnswer{view_.question});
    }

    /// Whether Enter ended it, with something typed.
    bool draw_entry(const ExerciseBlock::Blank& blank, std::size_t b) {
        const std::string& text = shown().entries[b];
        bool entered = false;
        const ImVec2 low{blank.low.x, blank.low.y};
        const ImVec2 high{blank.high.x, blank.high.y};
        ImGui::SetCursorScreenPos(low);
        const ImGuiID control = ImGui::GetID("entry");
        if (is_typed_into(frame_, control)) {
            const auto typed = type_in_place(frame_, control, low, high, out_);
            if (typed && *typed != text) enter(blank.row, blank.column, *typed);
            entered = typed && !typed->empty() && is_pressed(view::Key::enter);
        } else {
            if (invisible_button("box", {high.x - low.x, high.y - low.y}))
                begin_typing(control, text, out_);
            fill_entry(low, high, b);
            if (text.empty()) tooltip(frame_, "Click and type", "0.27, 1/3, exp(2), nan");
        }
        if (focus_stop(frame_, control, low, high) && !entered)
            begin_typing_by_key(frame_, control, text, out_);
        return entered;
    }
    /// A right entry has the colour that the cell of its matrix has.
    void fill_entry(ImVec2 low, ImVec2 high, std::size_t b) {
        const std::vector<double>& answer = question().answer.entries;
        const std::string& text = shown().entries[b];
        const auto mark = mark_of(b);
        view::Color fill = frame_.theme.raised, ink = frame_.theme.text;
        if (mark == EntryMark::right && std::isfinite(answer[b]) && answer.size() > 1) {
            double largest = 0.0;
            for (const double entry : answer)
                if (std::isfinite(entry)) largest = std::max(largest, std::abs(entry));
            const bool is_signed = std::ranges::any_of(answer, [](double e) { return e < 0.0; });
            fill = view::exercise_fill(answer[b], largest, is_signed, frame_.theme);
            ink = view::ink_on(fill, frame_.theme.name);
        }
        frame_.painter.rect(low, high, fill, frame_.px(4));
        const bool marked = mark && *mark != EntryMark::empty;
        frame_.painter.outline(low, high, edge_of(mark, frame_), frame_.px(marked ? 2.0F : 1.0F),
                               frame_.px(4));
        const bool large = high.y - low.y >= frame_.px(34);
        draw_fitted(frame_, large ? frame_.fonts.digits_large : frame_.fonts.digits,
                    {low.x + frame_.px(6), low.y}, {high.x - frame_.px(6), high.y}, Align::center,
                    ink, text);
    }

    // ---- buttons and their cards

    /// Filled: the next thing to do.
    bool main_button(const char* id, const std::string& text, ImVec2 at, float* width) {
        const ImVec2 size{frame_.text_width(frame_.fonts.strong, text) + frame_.px(2 * kSpace16),
                          frame_.px(kButton)};
        *width = size.x;
        ImGui::SetCursorScreenPos(at);
        const bool clicked = invisible_button(id, size);
        const bool pressed = pressed_by_key(frame_);
        const ImVec2 high{at.x + size.x, at.y + size.y};
        frame_.painter.rect(at, high, frame_.theme.accent, frame_.px(6));
        draw_text_in(frame_, frame_.fonts.strong, at, high, Align::center, frame_.theme.on_accent,
                     text);
        return clicked || pressed;
    }
    /// The keyboard goes to its first blank or choice.
    void go_to_next() {
        const auto next = static_cast<std::size_t>(view_.question) + 1;
        out_.push_back(view::ShowQuestion{static_cast<Index>(next)});
        ImGui::PopID();  // of this question
        ImGui::PushID(static_cast<int>(next));
        ImGui::PushID(0);
        if (view_.exercise.questions[next].choices.empty())
            begin_typing(ImGui::GetID("entry"), view_.questions[next].entries[0], out_);
        else if (frame_.focus != nullptr)
            frame_.focus->give(ImGui::GetID("choice"));
        ImGui::PopID();
        ImGui::PopID();
        ImGui::PushID(static_cast<int>(view_.question));
    }
    void draw_buttons(ImVec2 at) {
        float width = 0.0F;
        const std::string next = is_last() ? "All sheets" : "Next question";
        if (main_button("check", is_right() ? next : "Check", at, &width)) {
            if (!is_right())
                out_.push_back(view::CheckAnswer{view_.question});
            else if (is_last())
                out_.push_back(view::ShowSheets{true});
            else
                go_to_next();
        }
        const float top = at.y + (frame_.px(kButton) - ImGui::GetFrameHeight()) / 2;
        ImGui::SetCursorScreenPos({at.x + width + frame_.px(kSpace12), top});
        if (button(frame_, "hint", "Hint", {"Hint", "Shows a hint"}))
            out_.push_back(view::ShowExerciseHint{view_.question, !shown().hint});
        ImGui::SameLine();
        if (button(frame_, "solution", "Solution", {"Solution", "Shows each step"}))
            out_.push_back(view::ShowSolution{view_.question, !shown().solution});
    }

    /// A card under the buttons.
    struct Card {
        std::string title;
        view::Color color;
        std::vector<ExerciseBlock> blocks;
    };
    std::vector<Card> cards() const {
        std::vector<Card> cards;
        const view::Theme& theme = frame_.theme;
        const bool is_solved = is_right();
        if (shown().checked)
            cards.push_back({shown().checked->text, is_solved ? theme.good : theme.bad,
                             laid_out(shown().because)});
        if (shown().hint && !is_solved)
            cards.push_back({"Hint", theme.control, laid_out({question().hint})});
        if (shown().solution && !is_solved)
            cards.push_back({"Solution", theme.control, laid_out(question().solution)});
        return cards;
    }
    float card_height(const Card& card) const {
        return frame_.px(2 * kSpace12) + frame_.fonts.strong.px +
               (card.blocks.empty() ? 0.0F : gap() / 2) + height_of(card.blocks, gap() / 2);
    }
    float feedback_height() const {
        float height = 0.0F;
        for (const Card& card : cards()) height += card_height(card) + frame_.px(kSpace12);
        return height;
    }
    void draw_feedback(ImVec2 at) const {
        for (const Card& card : cards()) {
            const ImVec2 high{at.x + width_, at.y + card_height(card)};
            frame_.painter.rect(at, high, frame_.theme.surface, frame_.px(6));
            frame_.painter.rect(at, {at.x + frame_.px(kBar), high.y}, card.color, frame_.px(2));
            ImVec2 line{at.x + frame_.px(kBar + kSpace16), at.y + frame_.px(kSpace12)};
            draw_text_in(frame_, frame_.fonts.strong, line,
                         {high.x, line.y + frame_.fonts.strong.px}, Align::left, frame_.theme.text,
                         card.title);
            line.y += frame_.fonts.strong.px + gap() / 2;
            for (const ExerciseBlock& block : card.blocks) {
                draw_exercise_block(block, line, frame_.theme, frame_.painter);
                line.y += block.height + gap() / 2;
            }
            at.y = high.y + frame_.px(kSpace12);
        }
    }

    // ---- to the other questions

    void draw_links(ImVec2 at) {
        const float middle = at.y + frame_.px(kButton) / 2;
        const float top = middle - ImGui::GetFrameHeight() / 2;
        for (std::size_t n = 0; n < view_.questions.size(); ++n)
            draw_dot(n, {at.x + frame_.px(kNumber + kNumberStep * static_cast<float>(n)), middle});
        const std::string back = "← Previous", on = "Next →";
        const float wide = button_width(frame_, on);
        const float left = at.x + width_ - wide - frame_.px(kSpace8) - button_width(frame_, back);
        if (view_.question > 0) {
            ImGui::SetCursorScreenPos({left, top});
            if (button(frame_, "previous", back, {"Previous question", "Key: ←"}))
                out_.push_back(view::ShowQuestion{view_.question - 1});
        }
        if (is_last()) return;
        ImGui::SetCursorScreenPos({at.x + width_ - wide, top});
        if (button(frame_, "next", on, {"Next question", "Key: →"}))
            out_.push_back(view::ShowQuestion{view_.question + 1});
    }
    void draw_dot(std::size_t n, ImVec2 middle) {
        const float radius = frame_.px(kNumber);
        const view::Theme& theme = frame_.theme;
        ImGui::PushID(static_cast<int>(n));
        ImGui::SetCursorScreenPos({middle.x - radius, middle.y - radius});
        const bool clicked = invisible_button("dot", {2 * radius, 2 * radius});
        const bool pressed = pressed_by_key(frame_);
        const auto& checked = view_.questions[n].checked;
        const bool right = checked && checked->right,
                   here = static_cast<Index>(n) == view_.question;
        tooltip(frame_, fmt::format("Question {}", n + 1), right ? "Answered right" : "");
        ImGui::PopID();
        if (here) frame_.painter.circle(middle, radius, theme.raised);
        frame_.painter.ring(middle, radius,
                            here    ? theme.accent
                            : right ? theme.good
                                    : theme.control,
                            frame_.px(here || right ? 2.0F : 1.0F));
        draw_text_in(frame_, frame_.fonts.small, {middle.x - radius, middle.y - radius},
                     {middle.x + radius, middle.y + radius}, Align::center,
                     right  ? theme.good
                     : here ? theme.text
                            : theme.muted,
                     right ? "✓" : std::to_string(n + 1));
        if (clicked || pressed) out_.push_back(view::ShowQuestion{static_cast<Index>(n)});
    }

    const ExercisesView& view_;
    const Frame& frame_;
    view::Actions& out_;
    Sizes sizes_ = kSizes[0];
    float width_ = 0.0F;
};

/// Another question begins at its top.
void scroll_to_top_once(const ExercisesView& view) {
    ImGuiStorage& storage = *ImGui::GetStateStorage();
    const ImGuiID place = ImGui::GetID("sheet");
    const std::string name = fmt::format("{} {}", view.exercise.key, view.question);
    const auto shown = static_cast<int>(ImGui::GetID(name.c_str()));
    if (storage.GetInt(place) != shown) ImGui::SetScrollY(0.0F);
    storage.SetInt(place, shown);
}

}  // namespace

void draw_stage(const view::ExercisesView& view, const Box& box, const Frame& frame,
                view::Actions& out) {
    scroll_to_top_once(view);
    // The space of a scrollbar is kept free, so that one that comes or goes changes nothing.
    const float bar = ImGui::GetScrollMaxY() > 0.0F ? 0.0F : ImGui::GetStyle().ScrollbarSize;
    const ImVec2 space{ImGui::GetContentRegionAvail().x - bar,
                       std::min(ImGui::GetWindowHeight(), box.size().y) - frame.px(kSpace16)};
    const bool two = space.x >= frame.px(kTwoColumns);
    const float pad = frame.px(space.y < frame.px(kTwoColumns * 0.7F) ? kLowPad : kPad);
    const ImVec2 top{ImGui::GetCursorScreenPos().x, ImGui::GetCursorScreenPos().y + frame.px(4)};
    const float width = two ? std::floor(kGivenShare * space.x) : space.x;
    Given given(view, frame, width - 2 * pad);
    given.lay_out((two ? space.y : space.y / 3) - 2 * pad);
    const float left = two ? width + frame.px(kGap) + pad : pad;
    Stage stage(view, frame, out);
    const float above = two ? 0.0F : given.height() + 2 * pad + frame.px(kGap);
    stage.lay_out({space.x - left - (two ? 0.0F : pad), space.y - above});
    const float below = std::max(space.y - above, stage.height());
    const float card =
        two ? std::max({space.y, below, given.height() + 2 * pad}) : given.height() + 2 * pad;
    frame.painter.rect(top, {top.x + width, top.y + card}, frame.theme.surface, frame.px(8));
    given.draw({top.x + pad, top.y + pad}, card - 2 * pad);
    stage.draw({top.x + left, top.y + above + (two ? pad : 0.0F)}, below - (two ? 2 * pad : 0.0F));
    ImGui::SetCursorScreenPos({top.x, top.y + std::max(card, above + below)});
    leave_space({1.0F, 1.0F});
}

}  // namespace attn::ui
