#pragma once

#include <optional>

#include "core/engine.h"
#include "core/threads.h"

namespace attn {

/// Q [B,H,Tq,d_k], K [B,Hkv,Tk,d_k], V [B,Hkv,Tk,d_v], wherever they came from.
struct HeadTensors {
    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
};

struct ForwardResult {
    Tensor context;    // [B,H,Tq,d_v]
    Tensor logsumexp;  // [B,H,Tq,1]
};

/// Attention alone, on every thread; nullopt when it was stopped.
std::optional<ForwardResult> attend_fused(const HeadTensors& in, const AttentionSpec& spec,
                                          const Dimensions& size, const RunControl& control);

}  // namespace attn
