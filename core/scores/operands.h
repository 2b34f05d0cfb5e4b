#pragma once

#include "core/forward.h"
#include "core/matrix_view.h"
#include "core/sizes.h"
#include "core/tensor.h"

namespace attn {

struct AttentionSpec;
struct Rope;

// Operands and products of a score, and positions. score.h has the table.
// q̂ [B,H,Tq,w], k̂ [B,Hkv,Tk,w] operands; b batch entry, h query head, g its key/value head; d_ = gradient of.

/// What the product is taken of. An empty tensor: what it was made from serves as it is.
template <class Scalar>
struct OperandsOf {
    TensorOf<Scalar> q;
    TensorOf<Scalar> k;
};
using Operands = OperandsOf<float>;

/// What each query and key is multiplied by before the product: d_k^(−1/4) of ScaleKind::q_and_k, else 1.
double operand_factor(const AttentionSpec& spec, Index d_k);
/// What S is of the product of q and k themselves: score_factor() times the square of operand_factor().
double product_factor(const AttentionSpec& spec, Index d_k);

/// q̂ and k̂ of q [B,H,Tq,d_k] and k [B,Hkv,Tk,d_k], already rotated where RoPE is on.
template <class Scalar>
OperandsOf<Scalar> make_operands(const AttentionSpec& spec, const ParamsOf<Scalar>& params,
                                 const TensorOf<Scalar>& q, const TensorOf<Scalar>& k);
template <class Scalar>
OperandsOf<Scalar> make_operands(const CallOf<Scalar>& call, const TensorOf<Scalar>& q,
                                 const TensorOf<Scalar>& k) {
    return make_operands(call.spec(), call.inputs().params, q, k);
}

/// From the gradients of the operands to those of q and k, in place, and to d_params of the score's transform.
/// `d` holds d_q̂ and d_k̂ and ends with d_q and d_k.
template <class Scalar>
void operands_backward(const CallOf<Scalar>& call, const TensorOf<Scalar>& q,
                       const TensorOf<Scalar>& k, OperandsOf<Scalar>& d,
                       ParamsOf<Scalar>& d_params);

/// Which queries the rows of a product are: those from `first` on of one query head, of `queries` in all.
struct QueryRows {
    Index head = 0, first = 0, queries = 0;

    /// Of row 0 and key 0, in a row of Param::b_score; row i and key j are at j − i from there.
    Index first_distance() const { return queries - 1 - first; }
};

/// scores = product of every row of q̂ with every row of k̂, of one head. Not for a score whose product is the dot.
template <class Scalar>
void pair_products(const CallOf<Scalar>& call, QueryRows rows, MatrixView<const Scalar> q,
                   MatrixView<const Scalar> k, MatrixView<Scalar> scores);

/// Adds to d_q̂, d_k̂ and d_params what d_scores gives them. A pair whose d_score is exactly 0 adds nothing, whatever its
/// operands hold.
template <class Scalar>
void pair_products_backward(const CallOf<Scalar>& call, QueryRows rows, MatrixView<const Scalar> q,
                            MatrixView<const Scalar> k, MatrixView<const Scalar> d_scores,
                            MatrixView<Scalar> d_q, MatrixView<Scalar> d_k,
                            ParamsOf<Scalar>& d_params);

// ---- positions

/// Every row of `tensor` [B,H,T,d_k] turned by its position, offset + row. `back` turns the other way: the derivative.
template <class Scalar>
TensorOf<Scalar> rotate(const Rope& rope, const TensorOf<Scalar>& tensor, Index offset,
                        bool back = false);

/// ALiBi's slope of head h of H: 2^(−8(h+1)/n) for the first n heads, n the largest power of two that is at most H; the
/// rest take every other slope of 2n heads. Source: Press et al. 2022, arXiv:2108.12409, and their published code.
double alibi_slope(Index h, Index heads);

}  // namespace attn
