#pragma once

#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/spec.h"
#include "core/trace.h"

namespace attn::score {

// The functions of the table, each in the file of its name, for float and double; sums are taken in double.
// q [B,H,Tq,d_k], k [B,Hkv,Tk,d_k]; q̂, k̂ the operands; x_t rows of a tensor [B,H,T,d]; d_ = gradient of.

/// What a score function computes. nullptr: as for the dot product of q and k themselves.
template <class Scalar>
struct Function {
    using T = TensorOf<Scalar>;
    using In = MatrixView<const Scalar>;
    using Out = MatrixView<Scalar>;
    using P = ParamsOf<Scalar>;

    /// make_operands() and operands_backward() of score.h.
    OperandsOf<Scalar> (*operands)(const P& params, const T& q, const T& k) = nullptr;
    void (*operands_backward)(const P& params, const T& q, const T& k, OperandsOf<Scalar>& d,
                              P& d_params) = nullptr;
    /// pair_products() and pair_products_backward().
    void (*products)(const P& params, QueryRows rows, In q, In k, Out scores) = nullptr;
    void (*products_backward)(const P& params, QueryRows rows, In q, In k, In d_scores, Out d_q,
                              Out d_k, P& d_params) = nullptr;
};

/// One score function: its file defines <name>_row, which names neither its score nor its key.
struct Row {
    ScoreInfo info;
    Function<float> of_float = {};
    Function<double> of_double = {};
};
#define ATTN_DECLARE_ROW(name) extern const Row name##_row;
ATTN_SCORES(ATTN_DECLARE_ROW)
#undef ATTN_DECLARE_ROW

// ---- rows_times.cpp, for every function that multiplies by a matrix

/// x_t W for every row of every head; W [1,1,d,a].
template <class Scalar>
TensorOf<Scalar> rows_times(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight);
/// d_x = d_y Wᵀ, returned, and d_W += Σ x_tᵀ d_y_t over every row of every head.
template <class Scalar>
TensorOf<Scalar> rows_times_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& weight,
                                     const TensorOf<Scalar>& d_y, TensorOf<Scalar>& d_weight);

}  // namespace attn::score
