#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/exercise/exercise.h"
#include "app/workspaces/exercises/state.h"

namespace attn::view {

struct ExercisesView {
    struct Question {
        std::vector<std::string> entries;  // of its blanks, row by row
        std::optional<CheckedAnswer> checked;
        bool hint = false, solution = false;
    };
    std::string lacks;  // why there is no sheet; "": there is one
    std::vector<std::string> titles, keys;
    int choice = -1;  // of them
    Exercise exercise;
    std::vector<Question> questions;
    std::string status;  // "2 of 5 questions are right"
};
ExercisesView build_exercises_view(const AppState& state);

/// Of the present sheet and seed.
Result<Exercise> exercise_of(const AppState& state);
std::string entry_key(Index question, Index row, Index column);

}  // namespace attn::view
