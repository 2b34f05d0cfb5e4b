#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/matrix_view.h"
#include "core/spec.h"

namespace attn {

// One row of softmax(M) V while chunks of keys pass by, with everything that each chunk changes: as a fused kernel
// does in a loop, written down. m running maximum, ℓ running sum, O running output; ′ after the chunk.
//   m′ = max(m, max_j M_j)     α = exp(m − m′)
//   ℓ′ = α ℓ + Σ_j exp(M_j − m′)     O′ = α O + Σ_j exp(M_j − m′) v_j
// and after the last chunk the row is O / ℓ.
// Source: Milakov & Gimelshein 2018, arXiv:1805.02867, Algorithm 3; Dao et al. 2022, arXiv:2205.14135, Algorithm 1.

/// The row: M and what may be attended to, one entry a key, and V [keys, d_v].
struct OnlineRow {
    std::span<const double> scores;         // −inf or anything where forbidden
    std::span<const std::uint8_t> allowed;  // 1: takes part
    MatrixView<const double> values;
    std::optional<double> sink;  // a logit without a value
    EmptyRows empty_rows = EmptyRows::zero;
};

/// The state between chunks: d_v + 2 numbers, whatever the number of keys.
struct OnlineState {
    double largest = -std::numeric_limits<double>::infinity();  // m; −inf: nothing was seen
    double sum = 0.0;                                           // ℓ
    std::vector<double> output;                                 // O, not yet divided

    bool operator==(const OnlineState&) const = default;
};

struct OnlineStep {
    Index first = 0, last = 0;  // keys first <= j < last
    Index seen = 0;             // of them the allowed ones
    double largest = 0.0;       // of the chunk; −inf: every key of it is forbidden
    double rescale = 1.0;       // α; 1 as well while there is nothing to rescale (m′ = −inf)
    std::vector<double> terms;  // exp(M_j − m′); 0 where forbidden
    double rescaled_sum = 0.0;  // α ℓ
    double added_sum = 0.0;
    std::vector<double> rescaled_output;  // α O
    std::vector<double> added_output;
    OnlineState after;
};

struct OnlineSoftmax {
    OnlineState start;  // with a sink: m = its logit, ℓ = 1
    std::vector<OnlineStep> steps;
    /// O / ℓ. A row without a key follows the policy, unless a sink takes it: 0. NaN and ∞ act as in softmax_row():
    /// NaN or +inf at an allowed key, or allowed scores that are all −inf, make NaN.
    std::vector<double> result;
};

/// In chunks of `chunk` keys, the last one shorter; chunk >= 1. A forbidden key adds nothing, whatever its score and
/// value are.
OnlineSoftmax online_softmax(const OnlineRow& row, Index chunk);

}  // namespace attn
