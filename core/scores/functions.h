#pragma once

#include "core/tensor.h"

namespace attn::score {

// The parts that score.cpp's switches put together, for float and double. Sums are taken in double.
// x_t rows of a tensor [B,H,T,d]; d_ = gradient of.

// ---- cosine.cpp

/// x_t / ‖x_t‖. Edge: a row of zeros has no direction and stays 0, so that its cosines are 0.
template <class Scalar>
TensorOf<Scalar> unit_rows(const TensorOf<Scalar>& x);
/// With u = x / ‖x‖: d_x = (d_u − u (u · d_u)) / ‖x‖; 0 for a row of zeros.
template <class Scalar>
TensorOf<Scalar> unit_rows_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& d_unit);

// ---- general.cpp

/// x_t W for every row of every head; W [1,1,d,a].
template <class Scalar>
TensorOf<Scalar> rows_times(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight);
/// d_x = d_y Wᵀ, returned, and d_W += Σ x_tᵀ d_y_t over every row of every head.
template <class Scalar>
TensorOf<Scalar> rows_times_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight,
                                     const TensorOf<Scalar>& d_y, TensorOf<Scalar>& d_weight);

// ---- additive.cpp

/// scores(i,j) = Σ_c w_c tanh(q_ic + k_jc); w [1,1,1,a].
template <class Scalar>
void tanh_sums(MatrixView<const Scalar> q, MatrixView<const Scalar> k, const TensorOf<Scalar>& w,
               MatrixView<Scalar> scores);
/// With t = tanh(q_ic + k_jc): d_q_ic += Σ_j d_s w_c (1 − t²), d_k_jc the same over i, d_w_c += Σ_ij d_s t.
template <class Scalar>
void tanh_sums_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                        const TensorOf<Scalar>& w, MatrixView<const Scalar> d_scores,
                        MatrixView<Scalar> d_q, MatrixView<Scalar> d_k, TensorOf<Scalar>& d_w);

}  // namespace attn::score
