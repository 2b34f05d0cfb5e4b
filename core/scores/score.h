#pragma once

#include <algorithm>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "core/forward.h"
#include "core/spec.h"
#include "core/stage.h"
#include "core/tensor.h"

namespace attn {

struct AttentionSpec;
struct Rope;

// THE table of score functions. A score is an operand transform (rotate, normalise, multiply by a matrix), then a
// product of what came of it, the dot product unless the function has one of its own. A score is a name in
// ATTN_SCORES of spec.h and one file beside this one, with its row and its functions.
// q̂ [B,H,Tq,w], k̂ [B,Hkv,Tk,w] operands; b batch entry, h query head, g its key/value head; d_ = gradient of.

/// FLOPs of scores alone: multiply-adds, 2 each, and the rest, one each exp, division or sum.
struct ScoreCost {
    double products = 0.0;
    double elementwise = 0.0;
};
/// Rows of Q and of K of all heads, the pairs that the mask allows, and the width of a row.
struct ScoreSizes {
    double pairs = 0.0, queries = 0.0, keys = 0.0, d_k = 0.0;

    /// 2 d_k a pair.
    double dot_products() const { return 2.0 * pairs * d_k; }
};
/// The largest norms of a row of q and of k, and the parameters of the score.
struct ScoreNorms {
    double q = 0.0, k = 0.0;
    const ParamsD& params;

    /// ‖q‖‖k‖, but not near 0.
    double product() const { return std::max(q * k, 1e-3); }
};

struct PairFormula;  // pair_formula.h

struct ScoreInfo {
    Score score = {};                     // with its key as ATTN_SCORES has them
    std::string_view key = {};            // by which it is chosen
    std::string_view title;               // a heading
    std::string_view name;                // in a sentence
    std::string_view tex;                 // scores[i,j], in the subset that tex.h reads
    std::string_view text;                // one plain sentence
    std::string_view source;              // where the mathematics comes from
    std::span<const Param> params = {};   // their shapes follow from their axes
    std::string_view gradient_q_tex;      // ∂L/∂q_i
    std::string_view gradient_k_tex;      // ∂L/∂k_j
    PairFormula (*formula)() = nullptr;   // tex of one pair, as a tree
    std::string_view slope_q = {};        // one sentence of ∂score/∂q; none: it is k
    std::string_view slope_k = {};        // of ∂score/∂k; none: it is q
    std::string_view undefined = {};      // one sentence: where its formula divides by 0
    std::string_view operands = {};       // of a dot product: what makes q′ and k′ of q and k
    std::string_view more_operands = {};  // the same after other changes of q and k
    /// Python that sets `scores` [B,H,Tq,Tk] of q, k and the parameters. {np} is numpy or torch, {keep} the arguments that sum over
    /// the last axis and leave it, {queries} and {keys} their numbers, {last} the last query.
    std::string_view code;
    ScoreCost (*cost)(const ScoreSizes&) = nullptr;
    /// Error of a score ÷ error of the dot product q·k.
    double (*growth)(const ScoreNorms&) = nullptr;
};

std::span<const ScoreInfo> score_table();
const ScoreInfo& info(Score score);
/// Whether its product is the dot product of the operands: any kernel can take it.
bool is_dot(Score score);

/// What a call may have beyond softmax of scaled dot products under a mask.
struct Feature {
    std::string_view key;    // of its field, or of the score
    std::string_view title;  // a heading
};
/// Those that this call has, less the options in `but`.
std::vector<Feature> features(const AttentionSpec& spec, const Params& params,
                              std::initializer_list<std::string_view> but = {});

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
