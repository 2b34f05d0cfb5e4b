#pragma once

#include <string>

#include "app/common/action.h"
#include "app/common/set_field.h"
#include "app/workspaces/exercises/state.h"

namespace attn::view {

/// Another sheet, or another seed of it: what was entered is left.
struct SetExercise {
    std::string sheet;
    std::uint64_t seed = 1;
    static constexpr auto kJournalNames = journal_names("set_exercise", "sheet", "seed");
};
/// Into a blank of a question, all from 0; of choices column is 0 and the text the index of the choice. "" empties it.
struct EnterAnswer {
    Index question, row, column;
    std::string text;
    static constexpr auto kJournalNames =
        journal_names("enter_answer", "question", "row", "column", "text");
};
/// Until one of its entries changes.
struct CheckAnswer {
    Index question;
    static constexpr auto kJournalNames = journal_names("check_answer", "question");
};
struct ShowExerciseHint {
    Index question;
    bool on;
    static constexpr auto kJournalNames = journal_names("show_exercise_hint", "question", "on");
};
struct ShowSolution {
    Index question;
    bool on;
    static constexpr auto kJournalNames = journal_names("show_solution", "question", "on");
};

/// The question on the stage; one out of range is refused.
struct ShowQuestion {
    Index question;
    static constexpr auto kJournalNames = journal_names("show_question", "question");
};

/// All sheets, to choose from.
using ShowSheets = Put<exercises_look, &ExercisesLook::choosing, "show_sheets", "on">;

using ExercisesActions =
    ActionList<ViewActions<CheckAnswer, ShowExerciseHint, ShowSolution, ShowQuestion, ShowSheets>,
               EditActions<EnterAnswer>, DragActions<SetExercise>>;
template <ListedIn<ExercisesActions> A>
inline constexpr Meta kMetaOf<A> = ExercisesActions::kMeta<A>;

}  // namespace attn::view
