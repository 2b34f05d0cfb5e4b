#pragma once

#include "core/models/cache.h"
#include "core/trace.h"

namespace attn {

struct BlockWeights;
struct MlpWeights;
struct ModelConfig;

// One block of a model: what its attention is given, and what leaves the block. x is [1, 1, T, width].

/// x, normalised where the family does that before, and the layer's W; or Q, K and V, where norms of their own or another
/// kind of turning than the engine's stand between. Row 0 of x has position `first`. Heads whose output is gated have no W_O:
/// attend_gated() of delta_net.h computes them.
Inputs attention_inputs(const Tensor& x, const BlockWeights& block, const ModelConfig& config,
                        Index layer, Index first = 0);
/// The same with Q, K and V, made of what projects.
Inputs given_heads(Inputs projected, const BlockWeights& block, const ModelConfig& config,
                   Index layer, Index first = 0);
/// What a decoder's attention over its encoder is given: x, normalised, what that gave (`memory`), and W. Or Q, and K and V
/// that are moved out of `kept`, which are made of `memory` where there are none yet.
Inputs cross_inputs(const Tensor& x, const Tensor& memory, const BlockWeights& block,
                    const ModelConfig& config, KvCache::Layer* retained);

// The steps of the first two, for whoever has the rows of several texts behind each other.
/// x, normalised where the family does that before.
Tensor normalised_rows(const Tensor& x, const BlockWeights& block, const ModelConfig& config);
/// The input of the projections: those rows, or z of LatentWeights.
Tensor projected_rows(const Tensor& x, const BlockWeights& block, const ModelConfig& config);
/// What a layer does to Q and K before attention and the engine does not: norms of their own, another kind of turning. Row 0
/// has position `first`.
void finish_heads(Inputs& heads, const BlockWeights& block, const ModelConfig& config, Index layer,
                  Index first = 0);

struct BlockOutput {
    Tensor x;
    Tensor
        routing;  // [1, 1, T, experts]: the share that each expert has, 0 of one that is not taken; or empty
    Tensor mlp;  // what the MLP gave; config.residual_factor times it was added
};
/// What a block computes between attention's output and its own, each [1, 1, T, columns]; empty: it has no such step.
struct BlockSteps {
    Tensor attention_added;          // attention's output through its own norm or column scale
    Tensor attention_sum;            // x (or x W) + residual_factor * what attention adds
    Tensor attention_normal;         // norm of that sum, where norms come after
    Tensor mlp_input;                // norm of what the MLP reads, where norms come before
    Tensor gate, hidden, activated;  // of an MLP without experts; `gate`: before its activation
    Tensor mlp;                      // the MLP's output, or the experts' sum
    Tensor mlp_added;                // that through its own norm or column scale
    Tensor mlp_sum;  // attention_sum (or its norm) + residual_factor * what the MLP adds
};
/// x with attention's output added. `steps` receives the steps; nullptr: they are not needed.
Tensor after_attention(const Tensor& x, const Tensor& attended, const BlockWeights& block,
                       const ModelConfig& config, BlockSteps* steps = nullptr);
/// What after_attention() gave with what the MLP gave added.
Tensor after_mlp(Tensor sum, const Tensor& mlp, const BlockWeights& block,
                 const ModelConfig& config, BlockSteps* steps = nullptr);
/// Both.
BlockOutput after_block(const Tensor& x, const Tensor& attended, const BlockWeights& block,
                        const ModelConfig& config, BlockSteps* steps = nullptr);
/// The output of one MLP, or of one expert.
Tensor mlp_of(const Tensor& x, const MlpWeights& mlp, const ModelConfig& config,
              BlockSteps* steps = nullptr);

/// What the expert that every token takes adds, times its factor; empty: the block has no shared expert.
Tensor shared_expert_of(const Tensor& x, const BlockWeights& block, const ModelConfig& config);

}  // namespace attn
