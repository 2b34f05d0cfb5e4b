#pragma once

#include <string>
#include <vector>

#include "app/common/exercise/exercise.h"
#include "app/common/math.h"

namespace attn::view {

// A sheet as it is set, on screen and on paper: words, formulas, matrices and the blanks between them.

/// Pixels. px: height of a line of words.
struct ExerciseType {
    float px = 16.0F;
    float width = 640.0F;  // where lines break
    float cell =
        0.0F;  // height of a coloured cell of a matrix; 0: its numbers are between brackets
    float small = 0.0F;  // height of the line after the blanks; 0: px
};

/// A paragraph, or the blanks of a question; (0, 0) is its top left.
struct ExerciseBlock {
    struct TextRun {
        Font font;
        Point at;
        std::string text;
        bool muted = false;
    };
    struct Formula {
        MathBox box;
        Point baseline;
    };
    /// Where an entry of the answer is written; of choices, the choice: a box to tick and its words.
    struct Blank {
        Index row = 0, column = 0;
        Point low, high;
    };
    /// A number of a matrix; `largest`: of the matrix, by its size.
    struct Cell {
        Point low, high;
        std::string text;
        double value = 0.0, largest = 1.0;
        bool is_signed = false;  // the matrix has negative numbers
    };
    std::vector<TextRun> runs;
    std::vector<Cell> cells;
    std::vector<Formula> formulas;
    std::vector<std::vector<Point>> strokes;  // brackets
    std::vector<Blank> blanks;
    float width = 0.0F, height = 0.0F;
};

enum class ExerciseVoice : std::uint8_t { plain, muted, heading };
ExerciseBlock lay_out_paragraph(const ExerciseParagraph& paragraph, const ExerciseType& type,
                                Painter& measure, ExerciseVoice voice = ExerciseVoice::plain);
/// Label, blanks, and how exact they are to be; or the choices.
ExerciseBlock lay_out_blanks(const ExerciseQuestion& question, const ExerciseType& type,
                             Painter& measure);
/// "3  The weights A …": the number before the first paragraph.
std::vector<ExerciseParagraph> numbered(const std::vector<ExerciseParagraph>& text,
                                        std::size_t number);

/// All but the blanks.
void draw_exercise_block(const ExerciseBlock& block, Point at, const Theme& theme,
                         Painter& painter);
/// The colour of a number of a matrix.
Color exercise_fill(double value, double largest, bool is_signed, const Theme& theme);
/// The square of a choice's blank.
struct ExerciseTick {
    Point low, high;
};
ExerciseTick tick_of(const ExerciseBlock::Blank& blank, float px);

}  // namespace attn::view
