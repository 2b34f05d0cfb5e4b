#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/formula.h"

namespace attn::view {

// Sheets of exercises: assets/exercises/<key>.json (README.md there has the format). A sheet draws numbers from a seed and
// computes everything else from them by formulas (core/formula.h), so that each seed is another sheet with its own answers.

/// A matrix of numbers that are drawn, each of them one of `from`.
struct ExerciseDraw {
    std::string name;
    Index rows = 1, columns = 1;
    std::vector<double> from;
    std::string label;  // the unit of a single number: "heads"; "": the text alone shows it
};
struct ExerciseTask {
    std::vector<std::string> text;  // paragraphs
    std::string label;              // TeX before the blanks: "A ="
    std::string answer;             // formula; of choices the one that holds, from 0
    std::vector<std::string> choices;
    Index decimals = 2;     // asked for; 0: whole numbers
    Index significant = 0;  // digits asked for in place of decimals; 0: none
    std::optional<double>
        tolerance;  // nullopt: one unit of the last digit asked for; of whole numbers 0.01
    std::string hint;
    std::vector<std::string> solution;  // paragraphs
};
struct ExerciseSheet {
    std::string key, title;
    Index place = 0;  // in the list of sheets
    std::string formula,
        learn;  // TeX of what it is about; what one learns; "" where nothing is said
    // Its card: what the sheet answers, the chapter it belongs to, the stage, how hard, how long.
    std::string question, chapter, stage, level;
    Index minutes = 0;
    std::vector<ExerciseDraw> draw;
    std::vector<std::string> require;  // formulas: drawn again until none of them is 0
    std::vector<std::pair<std::string, std::string>> compute;  // name, formula; in this order
    std::vector<std::string> text;
    std::vector<ExerciseTask> tasks;
};
/// An error names the file, the key and what was expected.
Result<ExerciseSheet> exercise_sheet_from_json(std::string_view text, std::string_view file_name);
/// Those of assets/exercises by their place, read once. An error is of the first that cannot be read.
const Result<std::vector<ExerciseSheet>>& exercise_sheets();
/// nullptr where there is none of that key. "": the first.
const ExerciseSheet* find_exercise_sheet(std::string_view key);
/// "identity-queries, weights-memory, …".
std::string exercise_sheet_keys();

// ---- with numbers

/// A part of a line: words, a formula in TeX, or a matrix.
struct ExercisePiece {
    std::string text;
    bool is_math = false;
    std::vector<std::vector<std::string>> matrix =
        {};                            // numbers as they are written, row by row; empty: it is none
    bool glued = false;                // no space before it
    std::vector<double> numbers = {};  // of the matrix, row by row
};
using ExerciseParagraph = std::vector<ExercisePiece>;

struct ExerciseQuestion {
    std::vector<ExerciseParagraph> text;
    std::string label;      // TeX
    std::string precision;  // "to 2 decimals"; "" of choices
    SmallMatrix answer;
    double tolerance = 0.0;  // of its largest finite entry at least
    bool relative = false;   // the tolerance is a share of each entry
    int decimals = 2;        // with which the answer is written
    int significant = 0;     // the same where digits are asked for
    std::vector<std::string> choices;
    ExerciseParagraph hint;
    std::vector<ExerciseParagraph> solution;

    /// What a blank may be off by.
    double allowed(double entry) const;
    /// As a solution writes it.
    std::string written(double entry) const;
};
/// A drawn number with its label.
struct ExerciseQuantity {
    std::string name, value, label;
};
struct Exercise {
    std::string key, title;
    std::uint64_t seed = 1;
    NamedMatrices values;            // drawn and computed
    std::vector<std::string> drawn;  // names of those that were drawn
    std::vector<ExerciseParagraph> text;
    std::vector<ExerciseQuestion> questions;
    std::vector<ExerciseQuantity> quantities = {};
};
/// An error: a formula or a TeX that is wrong, or requirements that no draw met.
Result<Exercise> make_exercise(const ExerciseSheet& sheet, std::uint64_t seed);

/// What was written into a blank: "0.27", "1/3", "sqrt(2)", "nan", "−∞". nullopt: no number.
std::optional<double> typed_answer(std::string_view text);

enum class EntryMark : std::uint8_t { empty, unreadable, wrong, right };
struct CheckedAnswer {
    std::vector<EntryMark> marks;  // of each blank
    std::string text;              // "3 of 4 entries are right."
    bool right = false;            // all of them
};
/// `entries`: what stands in the blanks, row by row; of choices one, the index of the choice. NaN is right where the answer
/// is NaN, ∞ where it is ∞.
CheckedAnswer check_answer(const ExerciseQuestion& question, std::span<const std::string> entries);
/// Whether a typed number is right where `answer` is expected.
bool is_close_enough(const ExerciseQuestion& question, double answer, double typed);

/// The likely cause of wrong entries, one sentence: "Row 1, column 2: the sign is wrong." It never contains the answer.
/// "": all entries are right, some are missing, or no usual mistake explains them.
std::string likely_mistake(const Exercise& exercise, std::size_t question,
                           std::span<const std::string> entries);

}  // namespace attn::view
