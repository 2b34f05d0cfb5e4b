#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/result.h"
#include "core/run_control.h"
#include "core/sizes.h"

namespace attn {

// The effect of ÷√d_k on gradients. One row: q and n keys k_j from N(0, 1), s_j = q·k_j, z = s/√d_k scaled or z = s unscaled,
// a = softmax(z), and an upstream gradient ∂L/∂a from N(0, 1). Backward, with f = ∂z/∂s:
//   ∂L/∂z_j = a_j (∂L/∂a_j − Σ_i a_i ∂L/∂a_i),   ∂L/∂s = f ∂L/∂z,   ∂L/∂q = f Σ_j ∂L/∂z_j k_j.
// W_Q gets Σ_i x_i (∂L/∂q_i)ᵀ of a batch of rows; where their inputs x_i are orthonormal (one-hot tokens), its norm is
// √Σ_i ‖∂L/∂q_i‖².

inline constexpr Index kGradientBatch = 64;    // rows that share W_Q
inline constexpr double kDeadGradient = 1e-3;  // a norm below it passes nothing
inline constexpr Index kMostGradientRows = 1 << 20;

struct GradientSampling {
    Index keys = 16;
    Index rows = 800 * kGradientBatch;  // whole batches
    std::uint64_t seed = 1;
    bool operator==(const GradientSampling&) const = default;
};

/// The distribution of one number over all rows, or all batches.
struct Spread {
    std::array<double, 101> percentiles{};  // 0 … 100, linear between order statistics
    double mean = 0.0;
    double dead = 0.0;                       // share below kDeadGradient
    double sure_low = 0.0, sure_high = 0.0;  // of the median, as Band has them
    double median() const { return percentiles[50]; }
};
struct GradientSide {
    Spread p_max;     // max_j a_j
    Spread jacobian;  // ‖∂a/∂z‖_F
    Spread z, s, q;   // ‖∂L/∂z‖, ‖∂L/∂s‖, ‖∂L/∂q‖ of each row
    Spread w_q;       // ‖∂L/∂W_Q‖_F of each batch
};
struct GradientPoint {
    Index d_k = 0;
    GradientSide scaled, unscaled;
};

/// An error names a d_k, number of keys or rows outside its limits, or rows that do not fill whole batches.
Result<void> check_gradients(const GradientSampling& sampling, std::span<const Index> widths);

/// One point for each d_k, in the order given. Deterministic: the same rows whatever the threads; rows of different d_k share
/// their directions, so curves are smooth.
/// Drawn in law, not by components: given q, s_j/‖q‖ is N(0, 1), ‖q‖² is χ²(d_k), and what Σ_j ∂L/∂z_j k_j has across q is
/// N(0, ‖∂L/∂z‖²) in d_k − 1 directions; a row takes time O(n), whatever d_k. tests/known compares with rows that were multiplied out.
/// Speed: 13 widths, 51,200 rows and 16 keys in 0.65 s of one core, less on several (tests/bench/saturation_bench.cpp).
/// Fails as check_gradients() does, and soon after `control` asks to stop.
Result<std::vector<GradientPoint>> gradient_sweep(const GradientSampling& sampling,
                                                  std::span<const Index> widths,
                                                  const RunControl& control = {});

}  // namespace attn
