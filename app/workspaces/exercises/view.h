#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/exercise/exercise.h"

namespace attn::view {

struct AppState;

struct ExercisesView {
    /// A sheet to choose.
    struct Card {
        std::string key, title, formula, learn;
        std::string question;        // in words; of a sheet without one its title
        std::string chapter, about;  // "softmax", the stage
        std::string effort;          // "medium, 8 min"
        std::vector<bool> solved;    // each of its questions
        bool chosen = false;
    };
    struct Question {
        std::vector<std::string> entries;  // of its blanks, row by row
        std::optional<CheckedAnswer> checked;
        bool hint = false, solution = false;
        /// Why the checked answer is right or wrong; empty: entries are missing.
        std::vector<ExerciseParagraph> because;
    };
    std::string missing_data;  // why there is no sheet; "": there is one
    std::vector<Card> cards;
    bool choosing = false;  // they stand there in place of the sheet
    std::string learn;      // from the sheet
    Exercise exercise;
    std::vector<Question> questions;
    Index question = 0;  // the one on the stage
    std::string status;  // "2 of 5 questions checked right"
};
ExercisesView build_exercises_view(const AppState& state);

/// Of the present sheet and seed.
Result<Exercise> exercise_of(const AppState& state);
std::string entry_key(Index question, Index row, Index column);
std::string question_key(std::string_view sheet, Index question);

}  // namespace attn::view
