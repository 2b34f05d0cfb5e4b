#include "app/common/exercise/page.h"

#include <algorithm>
#include <cmath>

#include "app/common/cell.h"
#include "app/common/colormap.h"
#include "core/shape.h"

namespace attn::view {
namespace {

// Of the height of a line.
constexpr float kMath = 1.12F;
constexpr float kHeading = 1.4F;
constexpr float kLead = 0.35F;  // between lines
constexpr float kMatrixRow = 1.2F;
constexpr float kMatrixGap = 0.8F;  // between columns
constexpr float kPad = 0.3F;        // between a bracket and what it holds
constexpr float kArm = 0.28F;       // of a bracket
constexpr float kAxis = 0.22F;      // middle of a matrix, above the baseline
constexpr float kBlankHeight = 1.75F;
constexpr float kBlankGap = 0.5F;
constexpr float kBlank = 5.0F;       // width in a matrix
constexpr float kLoneBlank = 10.0F;  // of a number
constexpr float kTick = 0.8F;
constexpr float kBetweenChoices = 1.6F;
// Of the height of a cell.
constexpr float kCellWidth = 1.25F;
constexpr float kCellText = 0.42F;
constexpr float kCellGap = 0.02F;

/// A part of a line; (0, 0) is the left end of its baseline.
struct Inline {
    ExerciseBlock content;
    float width = 0.0F, ascent = 0.0F, descent = 0.0F;
};

void shift(Point& point, Point by) { point = {point.x + by.x, point.y + by.y}; }

void append(ExerciseBlock& to, ExerciseBlock from, Point by) {
    for (auto& text : from.runs) shift(text.at, by), to.runs.push_back(std::move(text));
    for (auto& formula : from.formulas)
        shift(formula.baseline, by), to.formulas.push_back(std::move(formula));
    for (auto& stroke : from.strokes) {
        for (Point& point : stroke) shift(point, by);
        to.strokes.push_back(std::move(stroke));
    }
    for (auto& cell : from.cells) {
        shift(cell.low, by), shift(cell.high, by);
        to.cells.push_back(std::move(cell));
    }
    for (auto& blank : from.blanks) {
        shift(blank.low, by), shift(blank.high, by);
        to.blanks.push_back(blank);
    }
}

void join(Inline& left, Inline right, float gap) {
    append(left.content, std::move(right.content), {left.width + gap, 0.0F});
    left.width += gap + right.width;
    left.ascent = std::max(left.ascent, right.ascent);
    left.descent = std::max(left.descent, right.descent);
}

class Setter {
  public:
    Setter(const ExerciseType& type, Painter& measure, ExerciseVoice voice)
        : type_(type), measure_(measure), muted_(voice == ExerciseVoice::muted) {
        const bool heading = voice == ExerciseVoice::heading;
        font_ = {heading ? Face::bold : Face::sans, px() * (heading ? kHeading : 1.0F)};
    }

    float px() const { return type_.px; }

    Inline text(const std::string& text) const {
        Inline made;
        made.width = measure_.text_size(font_, text).x;
        made.ascent = font_.ascent();
        made.descent = font_.px - made.ascent;
        made.content.runs.push_back({font_, {0.0F, -made.ascent}, text, muted_});
        return made;
    }

    Inline math(const std::string& tex) const {
        auto box = lay_out_math(tex, {px() * kMath, px() * 0.7F}, measure_);
        if (!box) return text(tex);  // make_exercise() has refused it
        Inline made{{}, box->width, box->ascent, box->descent};
        made.content.formulas.push_back({std::move(*box), {}});
        return made;
    }

    /// Numbers in columns, right-aligned, between brackets.
    Inline matrix(const std::vector<std::vector<std::string>>& rows) const {
        const Font font{Face::roman, px() * kMath};
        std::vector<float> widths(rows.front().size());
        for (const auto& row : rows)
            for (std::size_t j = 0; j < row.size(); ++j)
                widths[j] = std::max(widths[j], measure_.text_size(font, row[j]).x);
        const float step = px() * kMatrixRow;
        Inline made = bracketed(inner_width(widths), step * static_cast<float>(rows.size()));
        float y = -made.ascent + step / 2 + px() * kAxis - font.ascent();
        for (const auto& row : rows) {
            float right = px() * (kArm + kPad);
            for (std::size_t j = 0; j < row.size(); ++j) {
                right += widths[j] + (j > 0 ? px() * kMatrixGap : 0.0F);
                const float x = right - measure_.text_size(font, row[j]).x;
                made.content.runs.push_back({font, {x, y}, row[j], muted_});
            }
            y += step;
        }
        return made;
    }

    /// Its numbers in coloured cells of one size.
    Inline cells(const ExercisePiece& piece) const {
        const Font font{Face::mono, type_.cell * kCellText};
        float width = type_.cell * kCellWidth;
        for (const auto& row : piece.matrix)
            for (const std::string& text : row)
                width = std::max(width, measure_.text_size(font, text).x + font.px);
        double largest = 0.0;
        bool is_signed = false;
        for (const double value : piece.numbers) {
            if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
            is_signed = is_signed || value < 0.0;
        }
        const float gap = std::max(1.0F, type_.cell * kCellGap);
        Inline made;
        const auto rows = static_cast<float>(piece.matrix.size());
        made.width = width * static_cast<float>(piece.matrix.front().size());
        made.ascent = type_.cell * rows / 2 + px() * kAxis;
        made.descent = type_.cell * rows - made.ascent;
        std::size_t n = 0;
        for (std::size_t i = 0; i < piece.matrix.size(); ++i)
            for (std::size_t j = 0; j < piece.matrix[i].size(); ++j, ++n) {
                const Point low{width * static_cast<float>(j),
                                type_.cell * static_cast<float>(i) - made.ascent};
                made.content.cells.push_back({low,
                                              {low.x + width - gap, low.y + type_.cell - gap},
                                              piece.matrix[i][j],
                                              piece.numbers[n],
                                              largest,
                                              is_signed});
            }
        return made;
    }

    /// As many blanks as the answer has entries; brackets where there are several.
    Inline blanks(Index rows, Index columns) const {
        const bool one = rows * columns == 1;
        const float width = px() * (one ? kLoneBlank : kBlank);
        const float height = px() * kBlankHeight;
        const float gap = px() * kBlankGap;
        const auto across = static_cast<float>(columns);
        const auto down = static_cast<float>(rows);
        Inline made =
            bracketed(across * width + (across - 1.0F) * gap, down * height + (down - 1.0F) * gap);
        if (one) made.content.strokes.clear();
        for (const auto [i, j] : each_cell(rows, columns)) {
            const Point low{px() * (kArm + kPad) + static_cast<float>(j) * (width + gap),
                            static_cast<float>(i) * (height + gap) - made.ascent};
            made.content.blanks.push_back({i, j, low, {low.x + width, low.y + height}});
        }
        return made;
    }

    Inline choice(const std::string& shown, Index n) const {
        Inline label = text(shown);
        const float indent = px() * (kTick + 0.4F);
        Inline made{{}, indent, label.ascent, label.descent};
        join(made, std::move(label), 0.0F);
        made.content.blanks.push_back({0, n, {0.0F, -made.ascent}, {made.width, made.descent}});
        return made;
    }

    /// Lines of these parts with `gap` between them.
    ExerciseBlock flow(std::vector<Inline> parts, float gap) const {
        ExerciseBlock block;
        Inline line;
        const auto end_line = [&] {
            if (block.height > 0.0F) block.height += px() * kLead;
            block.width = std::max(block.width, line.width);
            append(block, std::move(line.content), {0.0F, block.height + line.ascent});
            block.height += line.ascent + line.descent;
            line = {};
        };
        for (Inline& part : parts) {
            const bool first = line.width == 0.0F;
            if (!first && line.width + gap + part.width > type_.width) end_line();
            join(line, std::move(part), line.width == 0.0F ? 0.0F : gap);
        }
        if (line.width > 0.0F) end_line();
        return block;
    }

    ExerciseBlock paragraph(const ExerciseParagraph& pieces) const {
        std::vector<Inline> parts;
        bool equals = false;  // a name and "=" precede the piece
        for (const ExercisePiece& piece : pieces) {
            const bool in_cells = type_.cell > 0.0F;
            if (in_cells && piece.glued && is_mark(piece.text)) continue;
            Inline part = piece.is_math          ? math(piece.text)
                          : piece.matrix.empty() ? text(piece.text)
                          : in_cells             ? cells(piece)
                                                 : matrix(piece.matrix);
            const bool after_name = in_cells && !parts.empty() && equals;
            equals = piece.is_math && piece.text.ends_with('=');
            if (after_name)
                join(parts.back(), std::move(part), px() * kPad);
            else if (piece.glued && !parts.empty())
                join(parts.back(), std::move(part), 0.0F);
            else
                parts.push_back(std::move(part));
        }
        const float gap = type_.cell > 0.0F ? px() : measure_.text_size(font_, " ").x;
        return flow(std::move(parts), gap);
    }

  private:
    /// What follows a matrix in a sentence.
    static bool is_mark(std::string_view text) { return text == "," || text == "." || text == ":"; }
    float inner_width(const std::vector<float>& widths) const {
        float width = px() * kMatrixGap * static_cast<float>(widths.size() - 1);
        for (const float each : widths) width += each;
        return width;
    }
    /// Brackets around so much room, whose middle is the axis.
    Inline bracketed(float width, float height) const {
        Inline made;
        const float arm = px() * kArm;
        made.width = width + 2 * (arm + px() * kPad);
        made.ascent = height / 2 + px() * kAxis;
        made.descent = height / 2 - px() * kAxis;
        for (const float side : {-1.0F, 1.0F}) {
            const float edge = side < 0.0F ? px() * 0.12F : made.width - px() * 0.12F;
            const float tip = edge - side * arm;
            made.content.strokes.push_back({{tip, -made.ascent},
                                            {edge, -made.ascent},
                                            {edge, made.descent},
                                            {tip, made.descent}});
        }
        return made;
    }

    ExerciseType type_;
    Painter& measure_;
    bool muted_;
    Font font_;
};

}  // namespace

ExerciseBlock lay_out_paragraph(const ExerciseParagraph& paragraph, const ExerciseType& type,
                                Painter& measure, ExerciseVoice voice) {
    return Setter(type, measure, voice).paragraph(paragraph);
}

ExerciseBlock lay_out_blanks(const ExerciseQuestion& question, const ExerciseType& type,
                             Painter& measure) {
    const Setter set(type, measure, ExerciseVoice::plain);
    std::vector<Inline> parts;
    for (std::size_t n = 0; n < question.choices.size(); ++n)
        parts.push_back(set.choice(question.choices[n], static_cast<Index>(n)));
    if (!parts.empty()) return set.flow(std::move(parts), type.px * kBetweenChoices);
    if (!question.label.empty()) parts.push_back(set.math(question.label));
    parts.push_back(set.blanks(question.answer.rows, question.answer.columns));
    const ExerciseType small{type.small > 0.0F ? type.small : type.px, type.width};
    parts.push_back(Setter(small, measure, ExerciseVoice::muted).text(question.precision));
    return set.flow(std::move(parts), type.px * 0.5F);
}

std::vector<ExerciseParagraph> numbered(const std::vector<ExerciseParagraph>& text,
                                        std::size_t number) {
    std::vector<ExerciseParagraph> all = text;
    all.front().insert(all.front().begin(), {std::to_string(number) + "."});
    return all;
}

void draw_exercise_block(const ExerciseBlock& block, Point at, const Theme& theme,
                         Painter& painter) {
    for (const auto& text : block.runs)
        painter.text(text.font, {at.x + text.at.x, at.y + text.at.y},
                     text.muted ? theme.muted : theme.text, text.text);
    for (const auto& cell : block.cells) {
        const Point low{at.x + cell.low.x, at.y + cell.low.y};
        const Point high{at.x + cell.high.x, at.y + cell.high.y};
        const Color fill = exercise_fill(cell.value, cell.largest, cell.is_signed, theme);
        painter.rect(low, high, fill, 2.0F);
        const Font font{Face::mono, (high.y - low.y) * kCellText};
        const float width = painter.text_size(font, cell.text).x;
        painter.text(font, {(low.x + high.x - width) / 2, (low.y + high.y - font.px) / 2},
                     ink_on(fill, theme.name), cell.text);
    }
    for (const auto& formula : block.formulas)
        draw_math(formula.box, {at.x + formula.baseline.x, at.y + formula.baseline.y}, theme, {},
                  painter);
    for (std::vector<Point> stroke : block.strokes) {
        for (Point& point : stroke) shift(point, at);
        painter.polyline(stroke, theme.text, 1.0F);
    }
}

Color exercise_fill(double value, double largest, bool is_signed, const Theme& theme) {
    if (std::isnan(value)) return theme.nan;
    if (!std::isfinite(value)) return theme.masked;
    ColorRange range{is_signed ? ColorScale::diverging : ColorScale::unit};
    range.high = largest > 0.0 ? largest : 1.0;
    range.low = is_signed ? -range.high : 0.0;
    return color_of(range, value, theme.name);
}

ExerciseTick tick_of(const ExerciseBlock::Blank& blank, float px) {
    const float side = px * kTick;
    const float top = (blank.low.y + blank.high.y - side) / 2;
    return {{blank.low.x, top}, {blank.low.x + side, top + side}};
}

}  // namespace attn::view
