#pragma once

#include <functional>

#include "core/backend.h"
#include "core/engine.h"
#include "core/kernels/fused_drive_backward.h"
#include "core/run_control.h"

namespace attn {

/// Attention in float without ever storing scores or weights: O(Tq + Tk) memory, SIMD chosen at run
/// time, on every thread that threads.h gives. Kept stages are those without a number for each pair. Scores whose
/// product is the dot product only. Dropout drops the same pairs as the other backends.
/// Edges as attend() in engine.h. Scores beyond the float range become inf and their row NaN.
/// Accuracy: within the error bounds of tests/support/tolerance.h for single precision.
/// Fails when `control` was stopped.
/// Source: Milakov & Gimelshein 2018, arXiv:1805.02867 (online softmax); Dao et al. 2022,
/// arXiv:2205.14135 (tiles, backward from logsumexp).
Result<Trace> fused_forward(const Call& call, StageSet keep, const RunControl& control = {});

/// Gradients of the kept stages and the parameters, with scores computed anew, and weights from them and the rows' largest
/// logit and sum, which `forward` holds beside q, k, v and context.
Result<Trace> fused_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                             const RunControl& control = {});

/// The same with attention itself computed by others, as attend_fused() and differentiate_fused() would.
struct FusedKernels {
    std::function<std::optional<ForwardResult>(const Call&, const HeadTensors&)> attend;
    std::function<std::optional<HeadGradients>(const BackwardInputs&)> differentiate;
};
Result<Trace> fused_forward(const Call& call, StageSet keep, const FusedKernels& kernels);
Result<Trace> fused_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                             const FusedKernels& kernels);

/// The stages that exist without a number for each pair.
StageSet fused_stages();

const Backend& fused_backend();

}  // namespace attn
