// The usual mistakes of a computation by hand, found by comparing their results with the answer.

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/cell.h"
#include "app/common/exercise/exercise.h"
#include "app/common/exercise/text.h"

namespace attn::view {
namespace {

constexpr double kNearly = 10.0;  // times the tolerance
constexpr double kOneTo = 1e-9;   // how exactly the rows of weights sum to 1
constexpr double kFactors[] = {2.0, 4.0, 8.0, 10.0, 100.0, 1000.0, 1024.0, 1e6, 1048576.0, 1e9};

/// The answer and the typed numbers of a question; all are finite.
struct Attempt {
    const ExerciseQuestion& question;
    SmallMatrix typed;

    const SmallMatrix& answer() const { return question.answer; }
    bool agrees(double expected, double entry) const {
        return is_close_enough(question, expected, entry);
    }
    bool is_right(Index i, Index j) const { return agrees(answer()(i, j), typed(i, j)); }
    std::string place(Index i, Index j) const {
        if (answer().is_number()) return "";
        if (answer().rows == 1) return fmt::format("Entry {}: ", j + 1);
        return answer().columns == 1 ? fmt::format("Entry {}: ", i + 1)
                                     : fmt::format("Row {}, column {}: ", i + 1, j + 1);
    }
};

std::optional<Attempt> attempt_at(const ExerciseQuestion& question,
                                  std::span<const std::string> entries) {
    Attempt attempt{question, {question.answer.rows, question.answer.columns, {}}};
    for (const std::string& entry : entries) {
        const auto number = typed_answer(entry);
        if (!number || !std::isfinite(*number)) return std::nullopt;
        attempt.typed.entries.push_back(*number);
    }
    const bool whole = attempt.typed.entries.size() == question.answer.entries.size();
    const bool finite = std::ranges::all_of(question.answer.entries,
                                            [](double entry) { return std::isfinite(entry); });
    return whole && finite && question.choices.empty() ? std::optional(attempt) : std::nullopt;
}

SmallMatrix transposed(const SmallMatrix& matrix) {
    SmallMatrix turned{matrix.columns, matrix.rows, {}};
    for (Index j = 0; j < matrix.columns; ++j)
        for (Index i = 0; i < matrix.rows; ++i) turned.entries.push_back(matrix(i, j));
    return turned;
}

/// Each row sums to 1, up to the sum of the tolerances.
bool rows_sum_to_one(const SmallMatrix& matrix, double tolerance) {
    for (Index i = 0; i < matrix.rows; ++i) {
        double sum = 0.0;
        for (Index j = 0; j < matrix.columns; ++j) sum += matrix(i, j);
        if (!(std::abs(sum - 1.0) <= tolerance * static_cast<double>(matrix.columns) + kOneTo))
            return false;
    }
    return true;
}

/// The answer of an earlier question.
std::string other_question(const Exercise& exercise, std::size_t question, const Attempt& attempt) {
    for (std::size_t n = 0; n < question; ++n) {
        const ExerciseQuestion& other = exercise.questions[n];
        if (!other.choices.empty() || other.answer.rows != attempt.answer().rows ||
            other.answer.columns != attempt.answer().columns)
            continue;
        bool same = true;
        for (std::size_t e = 0; e < attempt.typed.entries.size(); ++e)
            same =
                same && is_close_enough(other, other.answer.entries[e], attempt.typed.entries[e]);
        if (same) return fmt::format("This is the answer to question {}.", n + 1);
    }
    return "";
}

/// Rows and columns mistaken for each other.
std::string turned(const Attempt& attempt) {
    const SmallMatrix& answer = attempt.answer();
    if (answer.rows != answer.columns || answer.rows < 2) return "";
    const SmallMatrix mirrored = transposed(answer);
    bool same = true;
    for (const auto [i, j] : each_cell(answer.rows, answer.columns))
        same = same && attempt.agrees(mirrored(i, j), attempt.typed(i, j));
    if (same) return "Rows and columns are swapped.";
    const double tolerance = attempt.question.tolerance;
    if (rows_sum_to_one(answer, 0.0) && !rows_sum_to_one(attempt.typed, tolerance) &&
        rows_sum_to_one(transposed(attempt.typed), tolerance))
        return "Each column sums to 1, but softmax goes along each row.";
    return "";
}

/// The mistake in one entry; "": none of the usual ones.
std::string of_entry(const Attempt& attempt, double answer, double typed) {
    if (answer != 0.0 && attempt.agrees(answer, -typed)) return "the sign is wrong.";
    for (const double factor : kFactors) {
        if (answer == 0.0 || typed == 0.0) break;
        const std::string times = plain_number(factor);
        if (attempt.agrees(answer, typed / factor) && std::abs(typed) > std::abs(answer))
            return fmt::format("{} times too large.", times);
        // The tolerance is of the answer: a small number must not pass for any fraction of it.
        if (std::abs(typed * factor - answer) <= attempt.question.allowed(answer) &&
            std::abs(typed) > attempt.question.allowed(answer))
            return fmt::format("{} times too small.", times);
    }
    if (std::abs(typed - answer) <= kNearly * attempt.question.allowed(answer))
        return "nearly right. Round only at the end.";
    return "";
}

std::string first_entry(const Attempt& attempt) {
    for (const auto [i, j] : each_cell(attempt.answer().rows, attempt.answer().columns)) {
        if (attempt.is_right(i, j)) continue;
        std::string why = of_entry(attempt, attempt.answer()(i, j), attempt.typed(i, j));
        if (why.empty()) return "";
        const std::string place = attempt.place(i, j);
        if (place.empty()) why[0] = static_cast<char>(std::toupper(why[0]));
        return place + why;
    }
    return "";
}

std::string row_sums(const Attempt& attempt) {
    if (attempt.answer().columns < 2 || !rows_sum_to_one(attempt.answer(), 0.0)) return "";
    for (Index i = 0; i < attempt.typed.rows; ++i) {
        const auto first = attempt.typed.entries.begin() + i * attempt.typed.columns;
        const SmallMatrix row{1, attempt.typed.columns, {first, first + attempt.typed.columns}};
        if (rows_sum_to_one(row, attempt.question.tolerance)) continue;
        const std::string name = attempt.typed.rows == 1 ? "The row" : fmt::format("Row {}", i + 1);
        return fmt::format("{} sums to {}, but weights sum to 1.", name,
                           fixed_number(std::reduce(row.entries.begin(), row.entries.end()), 2));
    }
    return "";
}

}  // namespace

std::string likely_mistake(const Exercise& exercise, std::size_t question,
                           std::span<const std::string> entries) {
    const ExerciseQuestion& shown = exercise.questions[question];
    if (check_answer(shown, entries).right) return "";
    const auto attempt = attempt_at(shown, entries);
    if (!attempt) return "";
    for (const std::string& why : {other_question(exercise, question, *attempt), turned(*attempt),
                                   first_entry(*attempt), row_sums(*attempt)})
        if (!why.empty()) return why;
    return "";
}

}  // namespace attn::view
