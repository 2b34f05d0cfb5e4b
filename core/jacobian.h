#pragma once

#include <span>
#include <vector>

#include "core/sizes.h"

namespace attn {

// Softmax of one row, a = softmax(s), and its Jacobian J = diag(a) − a aᵀ, which scales the gradient.

/// Singular values of J diag(slopes), ascending; the last is its norm ‖·‖₂, at most max |slopes| / 2. slopes[k]: how fast
/// the logit of key k grows with the number that it is made of, 1 for the logit itself.
/// The roots of the eigenvalues of its Gram matrix: cost n³, wrong by about √ε of the largest.
/// Edge: no key gives nothing. `a` and `slopes` must be finite.
std::vector<double> jacobian_singular_values(std::span<const double> a,
                                             std::span<const double> slopes);

/// The weights after the score of `key` rose by `delta`, every other score as it was:
///   a'_k = a_k e^{δ [k = key]} / (1 + a_key (e^δ − 1)),
/// which holds with a sink too, whose share shrinks like every other. To first order a'_k ≈ a_k + δ a_k ([k = key] − a_key).
struct Raised {
    std::vector<double> exact;
    std::vector<double> first_order;
};
Raised raise_score(std::span<const double> a, Index key, double delta);

}  // namespace attn
