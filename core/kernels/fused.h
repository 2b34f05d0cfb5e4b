#pragma once

#include "core/backend.h"
#include "core/engine.h"
#include "core/threads.h"

namespace attn {

/// Attention in float without ever storing scores or weights: O(Tq + Tk) memory, SIMD chosen at run
/// time, on every thread that threads.h gives. Validated arguments; kept stages are x, x_kv, q, k, v,
/// context and output. Dropout drops the same pairs as the other backends.
/// Edges as attend() in engine.h. Scores beyond the float range become inf and their row NaN.
/// Accuracy: within the error bounds of tests/support/tolerance.h for single precision.
/// Fails when `control` was stopped.
/// Source: Milakov & Gimelshein 2018, arXiv:1805.02867 (online softmax); Dao et al. 2022,
/// arXiv:2205.14135 (tiles, backward from logsumexp).
Result<Trace> fused_forward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                            StageSet keep, const RunControl& control = {});

/// Gradients of the kept stages and the parameters, with scores computed anew from the logsumexp of
/// `forward`, which also holds q, k, v and context. A weight's relative error is |logsumexp| · 2^-24;
/// a row beyond 65536 is an error that names the backends to use.
Result<Trace> fused_backward(const Inputs& inputs, const AttentionSpec& spec,
                             const Dimensions& size, const Trace& forward, const Upstream& upstream,
                             const RunControl& control = {});

/// The stages that exist without a number for each pair.
StageSet fused_stages();

const Backend& fused_backend();

}  // namespace attn
