#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/heads/place.h"
#include "core/result.h"
#include "core/run_control.h"
#include "core/sizes.h"
#include "core/tensor.h"

namespace attn {

class Model;
struct ModelToken;

// A head as two products of weights (Elhage et al. 2021, transformer-circuits.pub/2021/framework): with rows x, y of what attention
// reads, y's share in x's scores is x QK yᵀ, and what x takes from y is y OV.
//   QK = W_Q W_Kᵀ  [width, width], of rank at most d_k        OV = W_V W_O  [width, width], of rank at most d_v
// Of shared key/value heads W_K and W_V are those of the head's group. The weights of norms are folded in: of the layer's norm
// into W_Q, W_K and W_V (a LayerNorm's also takes the mean off), of norms of q, k and of what attention gives into W_Q, W_K and
// W_O. Left out: biases, what a norm divides by, and RoPE, so that QK is of distance 0.

struct HeadCircuit {
    std::vector<double> qk, ov;  // singular values, largest first
    /// Σ λ / Σ |λ|, from −1 to 1, of the eigenvalues λ of W_E OV W_U, the vocabulary's tokens to their logits, with the final
    /// norm's weights folded into W_U: 1 where a token raises itself. Not there: no embedding, no logits, every λ is 0.
    std::optional<double> copying;
};
/// An error: a head that the model does not have, a weight that is infinite. `control`: as of RunControl.
Result<HeadCircuit> head_circuit(const Model& model, HeadPlace at, const RunControl& control = {});

/// A part of a circuit over tokens: what the tokens of a text give to others, all of them sums over a head's columns.
struct TokenProduct {
    Tensor left;   // [1, 1, T, d], a row a token of the text
    Tensor right;  // [1, 1, N, d], a row for each of the others
    double factor = 1.0;
    std::vector<Index> others;  // their numbers in the vocabulary
    Tensor values;              // [1, 1, T, N]: factor · Σ_c left(i, c) right(j, c)
};
/// Every token is its embedding, without a position, through the norm of the layer, as though nothing before the layer had been
/// added to it. Biases of q and k, their norms and the scale of scores are in; RoPE turns by 0 everywhere.
struct TokenCircuit {
    TokenProduct qk;  // the score of query i and key j: q, k, scale
    /// What attending to token i adds to the logit of token j, where the final norm divides by 1: v, W_O and the row of the read-out.
    /// Empty: there are no logits.
    TokenProduct ov;
};
/// With each other. An error: no such head, a model of images, a layer of another width than the embedding.
Result<TokenCircuit> token_circuit(const Model& model, HeadPlace at,
                                   const std::vector<ModelToken>& tokens);
/// With the `count` nearest of the vocabulary: of each token of the text the one with the largest value, then of each the next,
/// as long as there is room. Equal ones by number.
Result<TokenCircuit> vocabulary_circuit(const Model& model, HeadPlace at,
                                        const std::vector<ModelToken>& tokens, Index count,
                                        const RunControl& control = {});

/// How much of what an earlier head writes a later one reads (Elhage et al. 2021, composition scores), as matrices:
///   q = ‖OV QK′‖ / (‖OV‖ ‖QK′‖)   k = ‖OV QK′ᵀ‖ / (‖OV‖ ‖QK′‖)   v = ‖OV OV′‖ / (‖OV‖ ‖OV′‖)
/// ‖·‖ Frobenius, OV of the earlier head, QK′ and OV′ of the later one. From 0 to 1; 0 where a norm is 0.
struct Composition {
    HeadPlace earlier;
    double q = 0.0, k = 0.0, v = 0.0;
    double ov = 0.0;  // ‖OV‖ of the earlier head
};
/// With every head of every layer before. An error: no such head; layers of different widths.
Result<std::vector<Composition>> compositions(const Model& model, HeadPlace later,
                                              const RunControl& control = {});

}  // namespace attn
