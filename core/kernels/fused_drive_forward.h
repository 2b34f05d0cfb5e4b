#pragma once

#include <optional>

#include "core/kernels/projections.h"
#include "core/threads.h"

namespace attn {

struct ForwardResult {
    Tensor context;    // [B,H,Tq,d_v]
    Tensor logsumexp;  // [B,H,Tq,1]
    Tensor row_max;    // as in Trace
    Tensor row_log2_sum;
};

/// Attention of the scores' operands and V, on every thread; nullopt when it was stopped.
std::optional<ForwardResult> attend_fused(const Call& call, const HeadTensors& operands,
                                          const RunControl& control);

}  // namespace attn
