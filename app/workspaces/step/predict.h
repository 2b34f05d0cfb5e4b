#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/action.h"
#include "core/role.h"

namespace attn::view {

struct AppState;

// Predict, then reveal: one row of a stage is guessed before the canvas shows the stage.

/// What stands in the canvas's place.
struct PredictView {
    std::string question;  // "Guess row “sat” of A: …"
    std::vector<std::string> labels;
    std::vector<double> guess;
    double low = 0.0, high = 1.0;  // of the axis
    std::string low_text, high_text, zero_text;
    Index column = 0;  // that the keys change
    bool revealed = false;
    std::vector<double> truth;  // once it is revealed; NaN and ±∞ as they are
    std::vector<std::string> guess_text, truth_text;
    std::string total;  // "guessed: Σ 0.90, largest cat"; the difference once it is revealed
    std::vector<std::string> notes;  // beneath it
    Role role = Role::weight;
};
/// nullopt: nothing is to be guessed here, and the canvas is shown.
std::optional<PredictView> build_predict_view(const AppState& state);

/// A row is guessed, or stands revealed, in the canvas's place.
bool is_guessing(const AppState& state);
/// The chosen entry raised by so many twentieths of the axis, while a row is guessed.
Action nudged_guess(const AppState& state, int steps);
/// A guess of a row that is no longer looked at is over.
void update_prediction(AppState& state);

}  // namespace attn::view
