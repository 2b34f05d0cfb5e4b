#pragma once

#include "core/result.h"
#include "core/run_control.h"
#include "core/spec.h"
#include "core/stage.h"
#include "core/trace.h"

namespace attn {

class Backend;
struct BlockWeights;
struct ModelConfig;

// A gated delta net in place of attention (Qwen3-Next: Yang et al. 2024, arXiv:2412.06464), and gates of attention's heads.
//   q, k, v: each column of x W_q, x W_k, x W_v becomes SiLU( Σ_s w_s · the column at token t − K + 1 + s ), 0 before the text
//   λ = −e^A_log · softplus(x W_a + dt_bias),  β = σ(x W_b): a number for each token and head
//   context: the operation gated_delta of core/operations, which makes q and k as long as 1; value heads share keys in turn
//   output = ( RMSNorm(context) · w ∘ SiLU(x W_z) ) W_O
// Of attention with gates: output = ( context ∘ σ(x W_g) ) W_O.
// The "weights" of a gated delta net are the operation's implied matrix: context = weights V. They are signed, and rows need not sum to 1.

/// q, k and v of a gated delta net, each [1, H, T, d]; `normal`: the block's x after its norm.
Inputs delta_heads(const Tensor& normal, const BlockWeights& block, const ModelConfig& config);

/// Attention of a block that gates its heads, or its delta net in place of attention. `inputs`: given heads, without W_O.
/// Stage::output of the trace is what the block adds to x, [1, 1, T, width].
Result<Trace> attend_gated(const Inputs& inputs, const AttentionSpec& spec, const Tensor& normal,
                           const BlockWeights& block, const ModelConfig& config,
                           const Backend& backend, StageSet keep, const RunControl& control = {});

/// An error for what counts with concat(heads) W_O, of a model that does not add just that. `what`: "circuits".
Result<void> check_heads_add_up(const ModelConfig& config, std::string_view what);

}  // namespace attn
