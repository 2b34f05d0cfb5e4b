#pragma once

#include <optional>

#include "core/kernels/projections.h"
#include "core/threads.h"

namespace attn {

struct ForwardResult {
    Tensor context;    // [B,H,Tq,d_v]
    Tensor logsumexp;  // [B,H,Tq,1]
};

/// Attention alone, on every thread; nullopt when it was stopped.
std::optional<ForwardResult> attend_fused(const HeadTensors& in, const AttentionSpec& spec,
                                          const Dimensions& size, const RunControl& control);

}  // namespace attn
