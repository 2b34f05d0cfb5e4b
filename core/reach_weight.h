#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/sizes.h"

namespace attn {

// The smallest change that gives one attention weight another value. n keys, d columns of the query; j the key.

/// One row of softmax as a function of a change δ of its query: s(δ) = logits + slopes δ.
/// A key of weight 0 (masked, or underflowed) has the logit −inf; a sink is a key whose slopes are 0.
struct ReachRow {
    std::vector<double> logits;  // [n]
    std::vector<double>
        slopes;       // [n, d], row-major: ∂s_m/∂q, for dot scores k_m · scale / temperature
    Index width = 0;  // d

    double slope(std::size_t key, Index column) const {
        return slopes[key * static_cast<std::size_t>(width) + static_cast<std::size_t>(column)];
    }
};

/// ln(p / (1 − p)).
double logit_of(double p);
/// The change of the score s_j alone, the others held: logit(target) − logit(now), where
/// logit(now) = s_j − ln Σ_{m≠j} exp s_m. nullopt: j is masked, no other key has a weight, or the target is not
/// inside (0, 1).
std::optional<double> score_change(std::span<const double> logits, std::size_t j, double target);

/// The smallest ‖δ‖₂ for which softmax(s(δ))_j = target, by the logit of that weight
///   g(δ) = s_j(δ) − ln Σ_{m≠j} exp s_m(δ) = ln(target / (1 − target)),
/// which is concave in δ. To raise a weight the feasible set {g ≥ t} is convex: the point returned is THE smallest. It is
/// found by Newton's method on ½‖δ‖² − λ g(δ), strictly convex for each λ > 0, with λ by bisection.
/// To lower it the set is not convex: the smallest of one local minimum for each other key (the convex–concave
/// procedure, Lipp & Boyd 2016, doi:10.1007/s11081-015-9294-x: every step stays feasible and none is longer).
/// The logit is met to 1e-10 relative to 1 + |t|.
/// Fails: a target outside (0, 1), a masked key, an only key, numbers that are not finite, or slopes that no query can
/// use to reach the target (the keys are the same).
Result<std::vector<double>> smallest_query_change(const ReachRow& row, std::size_t j,
                                                  double target);

/// The smallest ‖δ‖₂ with slope·δ = change: δ = change · slope / ‖slope‖². nullopt where the slope is 0 or not finite.
std::optional<std::vector<double>> smallest_linear_change(std::span<const double> slope,
                                                          double change);

}  // namespace attn
