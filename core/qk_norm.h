#pragma once

#include "core/tensor.h"

namespace attn {

// QK-norm: RMSNorm of every query and key of a head, before RoPE. x a row of q or k, γ its weights, r = 1 / √(mean x² + ε).
// Henry et al. 2020, arXiv:2010.04245; RMSNorm: Zhang & Sennrich 2019, arXiv:1910.07467. Qwen3 and Gemma 3 have it; Gemma's files
// hold γ − 1.

/// 1 / √(mean x² + ε), in double. Infinite for a row of zeros with ε = 0.
template <class Scalar>
double inverse_rms(std::span<const Scalar> row, double epsilon);
extern template double inverse_rms(std::span<const float>, double);
extern template double inverse_rms(std::span<const double>, double);

/// Each row x of `rows` [B,H,T,d] becomes x r ∘ γ. `weight` [1,1,1,d]; empty: γ = 1.
/// Edge cases: a row of zeros with ε = 0 is NaN, as 0/0 is; NaN stays in its row.
/// Accuracy: sums and products in double, one rounding.
template <class Scalar>
TensorOf<Scalar> normalise_rows(const TensorOf<Scalar>& rows, const TensorOf<Scalar>& weight,
                                double epsilon);

/// The gradient with respect to `rows`, of `d` with respect to what normalise_rows() gives; adds to d_weight, which is made where γ is
/// given: d_x = r (γ ∘ d − x r² mean(x ∘ γ ∘ d)),  d_γ = Σ d ∘ x r.
/// A row whose gradient is exactly 0, as of a forbidden key, adds nothing, whatever it holds.
template <class Scalar>
TensorOf<Scalar> normalise_rows_backward(const TensorOf<Scalar>& rows,
                                         const TensorOf<Scalar>& weight, double epsilon,
                                         const TensorOf<Scalar>& d, TensorOf<Scalar>& d_weight);

}  // namespace attn
