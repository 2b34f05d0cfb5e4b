#pragma once

#include <optional>

#include "core/kernels/fused_drive_forward.h"

namespace attn {

/// What the forward pass left, and the gradient of its context [B,H,Tq,d_v].
struct BackwardInputs {
    const HeadTensors& heads;
    const Tensor& context;
    const Tensor& logsumexp;
    const Tensor& d_context;
};

struct HeadGradients {
    Tensor d_q;
    Tensor d_k;
    Tensor d_v;
};

/// Gradients of attention alone, on every thread; nullopt when it was stopped. The same numbers in
/// every run on the same number of threads.
std::optional<HeadGradients> differentiate_fused(const BackwardInputs& in,
                                                 const AttentionSpec& spec, const Dimensions& size,
                                                 const RunControl& control);

}  // namespace attn
