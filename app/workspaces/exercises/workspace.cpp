#include "app/common/workspace.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/workspaces/exercises/actions.h"
#include "app/workspaces/exercises/view.h"

namespace attn::view {
namespace {

/// The question of that number; nullopt, and said why, where there is none.
std::optional<ExerciseQuestion> question_at(AppState& state, Index n) {
    const auto exercise = exercise_of(state);
    if (!exercise) {
        show_error(state, exercise.error().text());
        return std::nullopt;
    }
    if (n >= 0 && n < std::ssize(exercise->questions)) return exercise->questions[n];
    show_error(state, fmt::format("question {}: expected 0 to {}", n,
                                  std::ssize(exercise->questions) - 1));
    return std::nullopt;
}

void put(std::vector<Index>& list, Index n, bool in) {
    std::erase(list, n);
    if (in) list.push_back(n);
    std::ranges::sort(list);
}

std::string fault_of(const ExerciseQuestion& question, const EnterAnswer& action) {
    const SmallMatrix& answer = question.answer;
    if (action.row < 0 || action.row >= answer.rows || action.column < 0 ||
        action.column >= answer.columns)
        return fmt::format("question {} has no blank in row {}, column {}", action.question,
                           action.row, action.column);
    return "";
}

void add_exercises_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Exercises"};
    if (!exercise_sheets()) return;
    const ExercisesControls& now = exercises_controls(state);
    for (const ExerciseSheet& sheet : *exercise_sheets())
        add("Exercise: " + sheet.title, Key::none, SetExercise{sheet.key, now.seed});
    add("All sheets of exercises", Key::none, ShowSheets{true});
    const ExercisesLook& look = exercises_look(state);
    const ExerciseSheet* const sheet = find_exercise_sheet(now.sheet);
    if (!look.choosing && !now.sheet.empty() && sheet != nullptr) {
        const Index last = std::ssize(sheet->tasks) - 1;
        const Index at = std::clamp(look.question, Index{0}, last);
        add("Next question", Key::right, ShowQuestion{std::min(at + 1, last)}, at < last);
        add("Previous question", Key::left, ShowQuestion{std::max(at - 1, Index{0})}, at > 0);
    }
    add("New numbers", Key::r, SetExercise{now.sheet, now.seed + 1});
}

std::vector<Shot> exercises_shots() {
    return {{"", {}},
            {"sheet", {SetExercise{"softmax-gradient", 7}}},
            {"solved",
             {SetExercise{"causal-row", 7}, EnterAnswer{1, 0, 0, "1"}, EnterAnswer{1, 1, 0, "1"},
              EnterAnswer{1, 2, 0, "1"}, CheckAnswer{1}}},
            {"choice", {SetExercise{"causal-row", 7}, EnterAnswer{2, 0, 0, "1"}, CheckAnswer{2}}}};
}

constexpr std::string_view kMouse[] = {
    "Click a card to open its sheet. A dot on a card is a question; a filled dot is solved.",
    "Click a blank and type a number, a fraction such as 1/3, or an expression such as exp(2).",
    "Check marks each entry and names the likely mistake. Hint and Solution open below.",
    "← and →, or a number below, show another question.",
};
constexpr PersistedValue kValues[] = {persisted(exercises_controls), persisted(exercises_look)};

}  // namespace

void carry_out(AppState& state, const SetExercise& action) {
    const ExerciseSheet* const sheet = find_exercise_sheet(action.sheet);
    if (sheet == nullptr)
        return show_error(state, fmt::format("there is no sheet '{}': choose one of {}",
                                             action.sheet, exercise_sheet_keys()));
    const ExercisesControls& now = exercises_controls(state);
    ExercisesLook& look = exercises_look(state);
    look.choosing = false;
    if (now.sheet == action.sheet && now.seed == action.seed) return;
    // Other numbers of one sheet: the question stays.
    const Index question = now.sheet == action.sheet ? look.question : 0;
    look = {{}, {}, {}, std::move(look.solved), false, question};
    edit_controls(state, ExercisesControls{action.sheet, action.seed, {}},
                  fmt::format("{}, seed {}", sheet->title, action.seed));
}

void carry_out(AppState& state, const EnterAnswer& action) {
    const auto question = question_at(state, action.question);
    if (!question) return;
    if (const std::string why = fault_of(*question, action); !why.empty())
        return show_error(state, why);
    ExercisesControls next = exercises_controls(state);
    const std::string key = entry_key(action.question, action.row, action.column);
    next.entries.erase(key);
    if (!action.text.empty()) next.entries[key] = action.text;
    put(exercises_look(state).checked, action.question, false);
    exercises_look(state).question = action.question;
    edit_controls(state, next,
                  fmt::format("question {}: {}", action.question + 1,
                              action.text.empty() ? "emptied" : action.text));
}

void carry_out(AppState& state, const CheckAnswer& action) {
    const auto question = question_at(state, action.question);
    if (!question) return;
    put(exercises_look(state).checked, action.question, true);
    exercises_look(state).question = action.question;
    const auto view = build_exercises_view(state);
    const CheckedAnswer& checked = *view.questions[action.question].checked;
    if (checked.right)
        exercises_look(state).solved[question_key(view.exercise.key, action.question)] =
            std::to_string(view.exercise.seed);
    show_message(state, fmt::format("Question {}: {}", action.question + 1, checked.text));
}

void carry_out(AppState& state, const ShowExerciseHint& action) {
    if (!question_at(state, action.question)) return;
    put(exercises_look(state).hints, action.question, action.on);
    exercises_look(state).question = action.question;
}

void carry_out(AppState& state, const ShowSolution& action) {
    if (!question_at(state, action.question)) return;
    put(exercises_look(state).solutions, action.question, action.on);
    exercises_look(state).question = action.question;
}

void carry_out(AppState& state, const ShowQuestion& action) {
    if (question_at(state, action.question)) exercises_look(state).question = action.question;
}

extern const WorkspaceInfo kExercisesWorkspace{
    .key = "exercises",
    .title = "Exercises",
    .tip = "Sheets to compute by hand, with numbers from a seed, hints, checks and solutions.",
    .group = Group::check,
    .letter = Key::e,
    .at_bottom = true,
    .actions = ExercisesActions::kTypes,
    .values = kValues,
    .enter =
        [](AppState& state) {
            show_message(state, exercises_controls(state).sheet.empty()
                                    ? "Click a sheet."
                                    : "Click a blank and type.");
        },
    .add_commands = add_exercises_commands,
    .shots = exercises_shots,
    .mouse = kMouse,
};

}  // namespace attn::view
