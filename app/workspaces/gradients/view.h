#pragma once

#include <array>
#include <string>
#include <vector>

#include "app/common/forward.h"
#include "app/common/grid.h"
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

/// softmax at one row: J = ∂a/∂s, s the raw scores, J[k,j] = slope_j a_k (δ_kj − a_j).
struct JacobianNumbers {
    double p_max = 0.0;
    double spectral = 0.0;  // ‖J‖₂, its largest singular value
    double even = 0.0;      // the same where all keys share 1 evenly, uncapped: |factor| / n
    Index keys = 0;         // that may be attended to
    Index flat = 0;  // directions, beside the one that J kills, that pass under 1 % of `even`
};

/// One key of the row whose weights compete.
struct CompetitionToken {
    std::string label;
    CellLook look = CellLook::number;  // masked: it takes no part
    double p = 0.0;
    double slope = 0.0;  // ∂a_k/∂z_j = a_k (δ_kj − a_j)
    std::string p_text{}, slope_text{}, tip{};
    double bar = 0.0;    // p, 0 … 1
    double width = 0.0;  // |slope| / kMostSlope, 0 … 1
};

inline constexpr double kMostSlope = 0.25;  // of a (1 − a), at p = 1/2

/// What raising the score of one key does to the weights of all: key j gains a_j (1 − a_j), every other key k loses a_k a_j.
/// z is the input of softmax: the score, scaled, biased and masked. A sink loses what is missing from 0.
struct CompetitionView {
    std::string missing_data;  // not empty: nothing is drawn
    std::string title, formula, sum;
    std::string moved;  // the finding: the slope of the raised key's weight; "": unknown
    std::string why;    // there is no arrow, or none wide enough to be seen; "" where there is
    Index row = 0, raised = 0;
    std::vector<CompetitionToken> tokens;

    const CompetitionToken& at(Index key) const { return tokens[key]; }
};

struct GradientsView {
    std::string missing_data;
    std::string point;
    std::vector<std::string> notes;
    std::string badge, badge_tip;
    bool badge_warns = false;  // NaN or ∞: the gradient could not be checked
    bool ready = false, stale = false;
    std::vector<GradientRow> rows;
    std::array<std::string, 2> sides;  // "with scaling", "without scaling"
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
/// ∂M/∂scores of each key of that row: the factor (1/√d_k, 1, …, over the temperature), and with a soft cap times
/// 1 − tanh²(S/cap).
std::vector<double> score_slopes(const AppState& state);
/// Whether that row may attend to a key.
bool may_attend_in_row(const AppState& state, Index key);
/// The key whose score is raised: the one that was chosen, else that of the row's largest weight, the first of them.
Index raised_key(const AppState& state);
CompetitionView build_competition(const AppState& state);
/// Why the bars of W_Q stand as they do, with the rows that the view has; "" where nothing needs a word.
std::string why_text(const LossGradients& result, const GradientsView& view);
GradientsView build_gradients_view(const AppState& state);
/// Of the row that is looked at; keys = 0: there is none.
JacobianNumbers jacobian_numbers(const AppState& state);
InspectorView gradients_inspector(const AppState& state);

std::string gradients_missing_data(const AppState& state);

/// See WorkspaceInfo::reasons.
std::vector<std::string> gradients_reasons(const AppState& state);

}  // namespace attn::view
