#pragma once

#include <string>
#include <vector>

#include "app/common/grid.h"
#include "app/common/inspector.h"
#include "app/workspaces/gradients/competition.h"
#include "app/workspaces/gradients/state.h"

namespace attn::view {

/// A stage or a parameter: the norm of its gradient both ways.
struct GradientRow {
    std::string key, symbol;
    Role role = Role::score;
    bool parameter = false;
    std::array<double, 2> norms{};  // Frobenius, over all sequences and heads
    std::array<std::string, 2> texts{};
    std::array<double, 2> bars{};  // 0 … 1 along the log axis; 0 where the norm is 0
    bool shown = false;
};

/// softmax at one row: J = ∂a/∂s, s the raw scores.
struct JacobianNumbers {
    double p_max = 0.0;
    double factor = 1.0;       // of the scores: 1/√d_k, 1, …, over the temperature
    double spectral = 0.0;     // largest eigenvalue of J
    double even = 0.0;         // the same where all keys have one weight: factor / n
    Index keys = 0;            // that may be attended to
    bool keeps_shift = false;  // all scores raised alike change nothing
    Index flat = 0;            // further directions whose eigenvalue is under 1 % of `even`
};

struct GradientsView {
    std::string lacks;
    std::string point;
    std::vector<std::string> notes;
    std::string badge, badge_tip;
    bool ready = false, stale = false;
    std::vector<GradientRow> rows;
    std::array<std::string, 2> sides;  // "÷√d_k", "not divided"
    std::vector<std::string> ticks;    // of the log axis, from its low end
    CompetitionView competition;
    std::vector<GridView> grids;  // the gradient, and the Jacobian
    std::vector<std::string> losses;
    int loss = 0;
    std::vector<std::string> row_names;
    int row = 0;
    std::string status;
};

inline constexpr Index kMostJacobian = 128;  // keys

/// Weights of the row that is looked at, from the exact pass; empty where there are none.
std::vector<double> jacobian_weights(const AppState& state);
/// Whether that row may attend to a key.
bool may_attend_in_row(const AppState& state, Index key);
GradientsView build_gradients_view(const AppState& state);
/// Of the row that is looked at; keys = 0: there is none.
JacobianNumbers jacobian_numbers(const AppState& state);
InspectorView gradients_inspector(const AppState& state);

}  // namespace attn::view
