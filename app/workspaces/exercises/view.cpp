#include "app/workspaces/exercises/view.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/exercise/text.h"
#include "app/common/state.h"
#include "app/workspaces/exercises/state.h"

namespace attn::view {
namespace {

bool has(const std::vector<Index>& list, Index n) { return std::ranges::count(list, n) > 0; }

std::vector<std::string> entries_of(const ExercisesControls& controls,
                                    const ExerciseQuestion& question, Index n) {
    std::vector<std::string> entries;
    for (Index i = 0; i < question.answer.rows; ++i)
        for (Index j = 0; j < question.answer.columns; ++j) {
            const auto found = controls.entries.find(entry_key(n, i, j));
            entries.push_back(found == controls.entries.end() ? "" : found->second);
        }
    return entries;
}

/// The solution of a right answer. Of a wrong one the likely mistake, or the hint.
std::vector<ExerciseParagraph> because_of(const Exercise& exercise, Index n,
                                          const ExercisesView::Question& shown) {
    if (!shown.checked) return {};
    const ExerciseQuestion& question = exercise.questions[n];
    if (shown.checked->right) return question.solution;
    if (std::ranges::count(shown.checked->marks, EntryMark::wrong) == 0) return {};
    const std::string mistake = likely_mistake(exercise, n, shown.entries);
    if (mistake.empty()) return {question.hint};
    return {exercise_paragraph(mistake, {}).value_or(ExerciseParagraph{})};
}

/// "medium, 8 min", without the missing part.
std::string effort_of(const ExerciseSheet& sheet) {
    const std::string minutes = sheet.minutes == 0 ? "" : fmt::format("{} min", sheet.minutes);
    if (sheet.level.empty() || minutes.empty()) return sheet.level + minutes;
    return sheet.level + ", " + minutes;
}

std::vector<ExercisesView::Card> cards_of(const ExercisesLook& look) {
    std::vector<ExercisesView::Card> cards;
    if (!exercise_sheets()) return cards;
    for (const ExerciseSheet& sheet : *exercise_sheets()) {
        auto& card = cards.emplace_back(sheet.key, sheet.title, sheet.formula, sheet.learn,
                                        sheet.question.empty() ? sheet.title : sheet.question,
                                        sheet.chapter, sheet.stage);
        card.effort = effort_of(sheet);
        for (Index n = 0; n < std::ssize(sheet.tasks); ++n)
            card.solved.push_back(look.solved.contains(question_key(sheet.key, n)));
    }
    return cards;
}

std::string solved_text(const std::vector<ExercisesView::Card>& cards) {
    const auto solved = std::ranges::count_if(cards, [](const ExercisesView::Card& card) {
        return std::ranges::count(card.solved, false) == 0;
    });
    return fmt::format("{} of {} sheets solved", solved, cards.size());
}

}  // namespace

std::string question_key(std::string_view sheet, Index question) {
    return fmt::format("{}.{}", sheet, question);
}

std::string entry_key(Index question, Index row, Index column) {
    return fmt::format("{}.{}.{}", question, row, column);
}

Result<Exercise> exercise_of(const AppState& state) {
    const ExercisesControls& controls = exercises_controls(state);
    if (!exercise_sheets()) return tl::unexpected(exercise_sheets().error());
    if (const ExerciseSheet* const sheet = find_exercise_sheet(controls.sheet))
        return make_exercise(*sheet, controls.seed);
    return bad_input(fmt::format("there is no sheet '{}': choose one of {}", controls.sheet,
                                 exercise_sheet_keys()));
}

ExercisesView build_exercises_view(const AppState& state) {
    ExercisesView view;
    const ExercisesControls& controls = exercises_controls(state);
    const ExercisesLook& look = exercises_look(state);
    view.cards = cards_of(look);
    view.choosing = look.choosing || controls.sheet.empty();
    auto exercise = exercise_of(state);
    if (!exercise) {
        view.missing_data = exercise.error().text();
        return view;
    }
    view.exercise = *std::move(exercise);
    for (ExercisesView::Card& card : view.cards) {
        card.chosen = card.key == controls.sheet;
        if (card.key == view.exercise.key) view.learn = card.learn;
    }
    Index right = 0;
    for (const ExerciseQuestion& question : view.exercise.questions) {
        const Index n = std::ssize(view.questions);
        auto& shown = view.questions.emplace_back();
        shown.entries = entries_of(controls, question, n);
        if (has(look.checked, n)) shown.checked = check_answer(question, shown.entries);
        if (shown.checked && shown.checked->right) ++right;
        shown.hint = has(look.hints, n);
        shown.solution = has(look.solutions, n);
        shown.because = because_of(view.exercise, n, shown);
    }
    view.question = std::clamp(look.question, Index{0}, Index{std::ssize(view.questions)} - 1);
    view.status = view.choosing ? solved_text(view.cards)
                                : fmt::format("{} of {} questions answered right", right,
                                              view.questions.size());
    return view;
}

}  // namespace attn::view
