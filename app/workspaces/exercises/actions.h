#pragma once

#include <string>

#include "app/common/action.h"
#include "app/workspaces/exercises/state.h"

namespace attn::view {

/// Another sheet, or another seed of it: what was entered is left.
struct SetExercise {
    std::string sheet;
    std::uint64_t seed = 1;
    static constexpr Meta kMeta{"set_exercise", Kind::drag,
                                fields<&SetExercise::sheet, &SetExercise::seed>};
    friend void carry_out(AppState& state, const SetExercise& action);
};
/// Into a blank of a question, all from 0; of choices column is 0 and the text the index of the choice. "" empties it.
struct EnterAnswer {
    Index question, row, column;
    std::string text;
    static constexpr Meta kMeta{"enter_answer", Kind::edit,
                                fields<&EnterAnswer::question, &EnterAnswer::row,
                                       &EnterAnswer::column, &EnterAnswer::text>};
    friend void carry_out(AppState& state, const EnterAnswer& action);
};
/// Until one of its entries changes.
struct CheckAnswer {
    Index question;
    static constexpr Meta kMeta{"check_answer", Kind::plain, fields<&CheckAnswer::question>};
    friend void carry_out(AppState& state, const CheckAnswer& action);
};
struct ShowExerciseHint {
    Index question;
    bool on;
    static constexpr Meta kMeta{"show_exercise_hint", Kind::plain,
                                fields<&ShowExerciseHint::question, &ShowExerciseHint::on>};
    friend void carry_out(AppState& state, const ShowExerciseHint& action);
};
struct ShowSolution {
    Index question;
    bool on;
    static constexpr Meta kMeta{"show_solution", Kind::plain,
                                fields<&ShowSolution::question, &ShowSolution::on>};
    friend void carry_out(AppState& state, const ShowSolution& action);
};

using ExercisesActions =
    ActionList<SetExercise, EnterAnswer, CheckAnswer, ShowExerciseHint, ShowSolution>;

}  // namespace attn::view
