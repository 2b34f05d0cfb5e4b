#pragma once

#include <span>
#include <vector>

#include "core/tensor.h"

namespace attn {

// Softmax of one row, a = softmax(s), and what its Jacobian J = diag(a) − a aᵀ lets through.

/// Eigenvalues of J and their directions. J is symmetric and positive semidefinite where Σ a ≤ 1.
struct JacobianSpectrum {
    Index keys = 0;
    std::vector<double> values;   // ascending; the last is ‖J‖₂, at most 1/2
    std::vector<double> vectors;  // [keys, keys]: row k is the direction of values[k], of length 1
};

/// By the eigensolver of Eigen for symmetric matrices: cost n³, wrong by about n ε.
/// Edge: no key gives nothing. `a` must be finite.
JacobianSpectrum softmax_spectrum(std::span<const double> a);

/// ‖J u‖ of u = (1, …, 1)/√n: 0 up to rounding where Σ a = 1, for a score that is added to all changes nothing. With a
/// sink Σ a < 1 and it is not 0. NaN of no key.
double common_shift_slope(std::span<const double> a);

/// The weights after the score of `key` rose by `delta`, every other score as it was:
///   a'_k = a_k e^{δ [k = key]} / (1 + a_key (e^δ − 1)),
/// which holds with a sink too, whose share shrinks like every other. To first order a'_k ≈ a_k + δ a_k ([k = key] − a_key).
struct Raised {
    std::vector<double> exact;
    std::vector<double> first_order;
};
Raised raise_score(std::span<const double> a, Index key, double delta);

}  // namespace attn
