#pragma once

#include <optional>

#include "core/call.h"
#include "core/kernels/projections.h"
#include "core/run_control.h"
#include "core/tensor.h"

namespace attn {

struct Dimensions;

struct ForwardResult {
    Tensor context;    // [B,H,Tq,d_v]
    Tensor logsumexp;  // [B,H,Tq,1]
    Tensor row_max;    // as in Trace
    Tensor row_log2_sum;
};

/// What Run, a FusedRun, makes of a call; nullopt when it was stopped.
template <class Run>
std::optional<ForwardResult> forward_result(const Call& call, const HeadTensors& in,
                                            const RunControl& control) {
    const Dimensions& size = call.size();
    const Shape rows{size.batch, size.heads, size.tq, 1};
    ForwardResult out;
    out.context = Tensor::uninitialised(stage_shape(Stage::context, size, call.spec()));
    for (Tensor* each : {&out.logsumexp, &out.row_max, &out.row_log2_sum})
        *each = Tensor::uninitialised(rows);
    if (!Run(call, in, out, control).run() || control.stop.stop_requested()) return std::nullopt;
    return out;
}

/// Attention of the scores' operands and V, on every thread; nullopt when it was stopped.
std::optional<ForwardResult> attend_fused(const Call& call, const HeadTensors& operands,
                                          const RunControl& control);

}  // namespace attn
