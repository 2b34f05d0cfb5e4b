#pragma once

#include "core/dimensions.h"
#include "core/forward.h"
#include "core/kernels/loops.h"
#include "core/tensor.h"

namespace attn {

// What the reference shares with operations that are no softmax attention: the way from the inputs to Q, K, V and to
// masked scores, the way from the context to the output, and back.

/// x, x_kv, q, k, v of the trace.
void fill_q_k_v(const CallD& call, TraceD& trace);
/// Those, q_norm, k_norm, q_rot, k_rot, scores, scaled, biased and masked: everything before softmax.
void fill_logits(const CallD& call, TraceD& trace);
/// Y = concat(heads) W_O + b_O, or the joined heads when there is no W_O.
TensorD join_heads(const InputsD& in, const Dimensions& size, const TensorD& context);

/// d holds `output` or `context` as `upstream` says (ones where it has no gradient), and then `context`, and d_w_o, d_b_o
/// where it began at `output`. `context` is the forward one.
void begin_backward(const CallD& call, const TensorD& context, const UpstreamD& upstream,
                    TraceD& d);
/// From d_masked back to biased, scaled, scores, q_rot, k_rot, q_norm, k_norm, q and k, and the score's parameters.
void logits_backward(const CallD& call, const TraceD& forward, TraceD& d);
/// From d_q, d_k and d_v back to x, x_kv and the projections. Nothing when Q, K and V are given.
void inputs_backward(const InputsD& in, TraceD& d);

}  // namespace attn
