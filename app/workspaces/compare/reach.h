#pragma once

#include <string>
#include <vector>

#include "core/reach_weight.h"
#include "core/stage.h"

namespace attn::view {

struct AppState;

/// What would give the selected weight its target, of the head shown.
struct Reach {
    std::string missing_data;  // why nothing is said; "": something is
    Index row = 0, column = 0;
    double now = 0.0;  // softmax of the scores in float64
    double score = 0.0, score_change = 0.0;
    std::vector<double> query;  // Δq; empty: see why_no_query
    std::string why_no_query;
    std::vector<double> word;  // Δ of the key's row of X; empty: see why_no_word
    std::string why_no_word;
    Stage word_stage = Stage::x;
    std::string no_query_edit, no_word_edit;  // why it cannot be an edit; "": it can
};
Reach reach_of(const AppState& state);

/// Larger rows are not solved while something is dragged.
inline constexpr Index kMostReachNumbers = 1 << 12;

}  // namespace attn::view
