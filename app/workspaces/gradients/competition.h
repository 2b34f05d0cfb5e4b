#pragma once

#include <string>
#include <vector>

#include "app/common/grid.h"
#include "app/workspaces/gradients/state.h"

namespace attn::view {

/// One key of the row whose weights compete.
struct CompetitionToken {
    std::string label;
    CellLook look = CellLook::number;  // masked: it takes no part
    double p = 0.0;
    double slope = 0.0;  // ∂p_k/∂s_j = p_k (δ_kj − p_j)
    std::string p_text, slope_text, tip;
    double bar = 0.0;    // p, 0 … 1
    double width = 0.0;  // |slope| / kMostSlope, 0 … 1
};

inline constexpr double kMostSlope = 0.25;  // of p (1 − p), at p = 1/2

/// What raising the score of one key does to the weights of all: key j gains p_j (1 − p_j), every other key k loses p_k p_j.
/// s is the score as softmax sees it: scaled, biased and masked. Where a sink takes part it loses what is missing from 0.
struct CompetitionView {
    std::string lacks;  // not empty: nothing is drawn
    std::string title, formula, sum;
    std::string
        why;  // there is no arrow, or none that is wide enough to be seen; "" where there is
    Index row = 0, raised = 0;
    std::vector<CompetitionToken> tokens;
};

CompetitionView build_competition(const AppState& state);

}  // namespace attn::view
