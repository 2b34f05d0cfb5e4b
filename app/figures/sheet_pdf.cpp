#include "app/figures/sheet_pdf.h"

#include <fmt/format.h>

#include "app/common/exercise/page.h"
#include "app/figures/figure.h"
#include "app/figures/measure.h"

namespace attn::figures {
namespace {

using view::ExerciseBlock;
using view::ExerciseQuestion;
using view::ExerciseVoice;
using view::Font;
using view::Point;

// Pixels of 1/96 inch.
constexpr Point kPapers[] = {{794.0F, 1123.0F}, {816.0F, 1056.0F}};
constexpr float kMargin = 76.0F;
constexpr float kType = 17.5F;  // height of a line: 11 points an em
constexpr float kSmall = 13.0F;
constexpr float kHeader = 40.0F;
constexpr float kParagraph = 8.0F;   // between paragraphs
constexpr float kQuestion = 26.0F;   // before a question
constexpr float kHandSpace = 60.0F;  // beneath the blanks, to compute in
constexpr float kLine = 0.8F;

/// What stays on one page, and how much room is before it.
struct Part {
    std::vector<ExerciseBlock> blocks;
    float gap = 0.0F;
    const ExerciseQuestion* filled = nullptr;  // whose answer stands in the blanks
    bool choices = false;
    float space = 0.0F;  // after it

    float height() const {
        float sum = space + kParagraph * static_cast<float>(blocks.size() - 1);
        for (const ExerciseBlock& block : blocks) sum += block.height;
        return sum;
    }
};

class SheetSetter {
  public:
    SheetSetter(const view::Exercise& exercise, Paper paper, bool solutions)
        : exercise_(exercise),
          size_(kPapers[static_cast<std::size_t>(paper)]),
          solutions_(solutions) {}

    Result<std::string> pdf() {
        set_parts();
        const auto pages = split();
        const auto figure = make_pdf({{0.0F, 0.0F}, size_, theme_.background});
        for (std::size_t n = 0; n < pages.size(); ++n) {
            if (n > 0) figure->turn_page();
            draw_frame(*figure, n + 1, pages.size());
            float y = kMargin + kHeader;
            for (const Part* part : pages[n]) y = draw_part(*figure, *part, y, part == pages[n][0]);
        }
        return figure->finish();
    }

  private:
    static view::Theme paper_theme() {
        view::Theme theme = view::theme(view::ThemeName::light);
        theme.background = {255, 255, 255};
        theme.text = {0, 0, 0};
        return theme;
    }
    view::ExerciseType type() const { return {kType, size_.x - 2 * kMargin}; }
    ExerciseBlock block(const view::ExerciseParagraph& paragraph,
                        ExerciseVoice voice = ExerciseVoice::plain) {
        return lay_out_paragraph(paragraph, type(), measure_, voice);
    }

    void set_parts() {
        parts_.push_back({{block({{exercise_.title}}, ExerciseVoice::heading)}});
        for (const auto& paragraph : exercise_.text)
            parts_.push_back({{block(paragraph)}, kParagraph});
        for (std::size_t n = 0; n < exercise_.questions.size(); ++n)
            set_question(exercise_.questions[n], n + 1);
    }
    void set_question(const ExerciseQuestion& question, std::size_t number) {
        Part part{{}, kQuestion};
        for (const auto& paragraph : numbered(question.text, number))
            part.blocks.push_back(block(paragraph));
        part.blocks.push_back(lay_out_blanks(question, type(), measure_));
        part.choices = !question.choices.empty();
        if (solutions_) part.filled = &question;
        if (!solutions_ && !part.choices) part.space = kHandSpace;
        parts_.push_back(std::move(part));
        if (!solutions_) return;
        for (const auto& paragraph : question.solution)
            parts_.push_back({{block(paragraph, ExerciseVoice::muted)}, kParagraph});
    }

    /// A part that does not fit begins a page.
    std::vector<std::vector<const Part*>> split() const {
        std::vector<std::vector<const Part*>> pages(1);
        const float space = size_.y - 2 * kMargin - kHeader;
        float used = 0.0F;
        for (const Part& part : parts_) {
            const float height = part.height() - part.space;
            if (!pages.back().empty() && used + part.gap + height > space) {
                pages.emplace_back();
                used = 0.0F;
            }
            used += (pages.back().empty() ? 0.0F : part.gap) + part.height();
            pages.back().push_back(&part);
        }
        return pages;
    }

    void draw_frame(view::Painter& painter, std::size_t page, std::size_t pages) {
        const Font font{view::Face::sans, kSmall};
        const float right = size_.x - kMargin;
        const auto at_right = [&](float y, const std::string& text) {
            painter.text(font, {right - measure_.text_size(font, text).x, y}, theme_.muted, text);
        };
        const std::string name = solutions_ ? "Solutions" : "Name";
        painter.text(font, {kMargin, kMargin - 20.0F}, theme_.muted, name);
        if (!solutions_) line(painter, {kMargin + 40.0F, kMargin - 5.0F}, 260.0F);
        at_right(kMargin - 20.0F, fmt::format("{} · seed {}", exercise_.key, exercise_.seed));
        const float bottom = size_.y - kMargin + 20.0F;
        painter.text(font, {kMargin, bottom}, theme_.muted,
                     fmt::format("attnscope sheet {} --seed {}{}", exercise_.key, exercise_.seed,
                                 solutions_ ? " --solutions" : ""));
        at_right(bottom, fmt::format("{} / {}", page, pages));
    }
    void line(view::Painter& painter, Point from, float width) const {
        painter.line(from, {from.x + width, from.y}, theme_.control, kLine);
    }

    float draw_part(view::Painter& painter, const Part& part, float y, bool first) {
        if (!first) y += part.gap;
        for (std::size_t n = 0; n < part.blocks.size(); ++n) {
            if (n > 0) y += kParagraph;
            draw_exercise_block(part.blocks[n], {kMargin, y}, theme_, painter);
            for (const auto& blank : part.blocks[n].blanks) draw_blank(painter, part, blank, y);
            y += part.blocks[n].height;
        }
        return y + part.space;
    }
    void draw_blank(view::Painter& painter, const Part& part, const ExerciseBlock::Blank& blank,
                    float y) {
        const Point low{kMargin + blank.low.x, y + blank.low.y};
        const Point high{kMargin + blank.high.x, y + blank.high.y};
        if (part.choices) return draw_tick(painter, part, {blank.row, blank.column, low, high});
        line(painter, {low.x, high.y - 4.0F}, high.x - low.x);
        if (part.filled == nullptr) return;
        const std::string text = part.filled->written(part.filled->answer(blank.row, blank.column));
        const Font font{view::Face::roman, kType * 1.1F};
        const float width = measure_.text_size(font, text).x;
        painter.text(font, {(low.x + high.x - width) / 2, high.y - 6.0F - font.px}, theme_.accent,
                     text);
    }
    void draw_tick(view::Painter& painter, const Part& part, const ExerciseBlock::Blank& blank) {
        const auto [low, high] = tick_of(blank, kType);
        painter.outline(low, high, theme_.control, kLine, 1.5F);
        if (part.filled == nullptr ||
            part.filled->answer.entries[0] != static_cast<double>(blank.column))
            return;
        const float side = high.x - low.x;
        const std::array mark{Point{low.x + side * 0.2F, low.y + side * 0.5F},
                              Point{low.x + side * 0.42F, low.y + side * 0.75F},
                              Point{low.x + side * 0.85F, low.y + side * 0.2F}};
        painter.polyline(mark, theme_.accent, 2.0F);
    }

    const view::Exercise& exercise_;
    Point size_;
    bool solutions_;
    view::Theme theme_ = paper_theme();
    Measure measure_;
    std::vector<Part> parts_;
};

}  // namespace

Result<std::string> sheet_pdf(const view::Exercise& exercise, Paper paper, bool solutions) {
    return SheetSetter(exercise, paper, solutions).pdf();
}

}  // namespace attn::figures
