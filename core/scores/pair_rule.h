#pragma once

#include "core/sizes.h"

namespace attn {

struct AttentionSpec;
struct Dimensions;

// From scaled to biased.

/// B = cap · tanh(S / cap) + bias − slope · |p − j|, or cap · tanh((S + bias) / cap) − slope · |p − j|: one head's rule for a query at
/// position p and a key at j. `bias` is the entry of MaskSpec::bias, 0 without a bias: bias_at() of core/bias.h.
struct PairRule {
    double cap = 0.0;         // 0: none
    double slope = 0.0;       // 0: none
    bool bias_first = false;  // the bias is added before the soft cap

    bool is_plain() const { return cap == 0.0 && slope == 0.0; }
    double biased(double scaled, Index p, Index j, double bias = 0.0) const;
    /// d_B / d_S = 1 − tanh²(S / cap), of S + bias with bias_first.
    double derivative(double scaled, double bias = 0.0) const;
};
PairRule pair_rule(const AttentionSpec& spec, const Dimensions& size, Index h);

/// Where a query at position p stands for ALiBi in float32: at the nearest of the keys 0 … Tk − 1. All its B are then larger by
/// slope · `distance`, which softmax does not see; without it a query 10⁷ tokens from the keys has no digits left.
struct NearPosition {
    Index position = 0;
    Index distance = 0;  // |p − position|
};
NearPosition near_position(Index p, const Dimensions& size);

}  // namespace attn
