#pragma once

#include <span>
#include <vector>

#include "core/sizes.h"

namespace attn {

/// How peaked one row a of attention weights is, and how much of its gradient remains.
/// J = diag(a) − a aᵀ is the Jacobian ∂a/∂s of softmax with respect to its input s (the masked,
/// scaled score). With respect to the raw score it is J · scale / temperature.
struct RowMetrics {
    double entropy = 0.0;          // H = −Σ a ln a, nats; 0 ln 0 = 0
    double evenness = 0.0;         // normalised entropy H / ln n, n = keys allowed; NaN when n < 2
    double max_probability = 0.0;  // p_max = max_j a_j
    double max_slope = 0.0;        // p_max (1 − p_max) = ∂p_max/∂s_max
    double jacobian_frobenius = 0.0;  // ‖J‖_F = √(Σ_j a_j²(1 − 2 a_j) + (Σ_j a_j²)²)
    double jacobian_spectral = 0.0;   // ‖J‖₂ = largest eigenvalue of J
    double effective_keys = 0.0;      // exp(H)
};

/// `allowed`: how many keys the row may attend to (n of evenness). A row with NaN gives NaN everywhere;
/// an empty row (all 0) gives evenness, p_max and norms 0 and effective_keys 0.
/// Accuracy: entropy and norms <= 1e-12 absolute for rows that sum to 1.
RowMetrics row_metrics(std::span<const double> a, Index allowed);
RowMetrics row_metrics(std::span<const float> a, Index allowed);

/// Quantile p, 0 ≤ p ≤ 1, linear between order statistics (numpy's default: position p (n − 1)). At least one value, none
/// NaN; puts them into another order.
double quantile(std::span<float> values, double p);
double quantile(std::span<double> values, double p);

/// Every place of the largest number, several where they differ by rounding alone: by at most `rounding` times the largest
/// |number| that is finite. NaN is passed over; empty where every number is NaN.
std::vector<Index> largest_places(std::span<const double> values, double rounding);
std::vector<Index> largest_places(std::span<const float> values, double rounding);

/// J = diag(a) − a aᵀ, row-major [n, n].
std::vector<double> softmax_jacobian(std::span<const double> a);

}  // namespace attn
