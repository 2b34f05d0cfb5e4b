#pragma once

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct BlockWeights;
struct ModelConfig;
struct ModelLayer;

// What a sweep over a model's parts is made of. x is [B, 1, T, d] of B texts, or [1, 1, B·T, d] of them one behind the other.

/// The same numbers.
Tensor reshaped(Tensor x, Shape shape);
/// Row `row` of every text of x [B, 1, T, d]: [B, 1, 1, d]; of heads [B, H, T, d]: [B, H, 1, d].
Tensor one_row(const Tensor& x, Index row);
/// Part n of `parts` that are equally large, behind each other in a batch; nothing of what is empty.
void put_into(Tensor& all, const Tensor& one, Index n, Index parts);

/// What each head gives before W_O, [1, H, T, d_v]: kept, or Σ_j α_j v_j. An error: the run kept neither.
Result<Tensor> context_of(const ModelLayer& layer);
/// What attention gives, W_O and its bias in it.
Result<Tensor> attended_of(const ModelLayer& layer);

/// Multiplications with a block's weight matrices, for each row of what they read.
struct BlockProducts {
    double keys = 0.0;     // W_K, W_V
    double queries = 0.0;  // W_Q, W_O
    double rest = 0.0;     // after attention
};
BlockProducts products_of(const BlockWeights& block, const ModelConfig& config);

}  // namespace attn
