#pragma once

#include <optional>

#include "core/kernels/fused_drive_forward.h"

namespace attn {

/// The scores' operands and V, what the forward pass left, and the gradient of its context [B,H,Tq,d_v].
struct BackwardInputs {
    const Call& call;
    const HeadTensors& heads;
    const Trace& forward;
    const Tensor& d_context;
};

/// Of the operands, of V, and of the sinks and the bias where there are any.
struct HeadGradients {
    Tensor d_q;
    Tensor d_k;
    Tensor d_v;
    Tensor d_sinks;
    Tensor d_bias;  // in the bias's shape; empty without one
};

/// From the gradients of the pairs: those of the sinks, and the NaN of empty rows.
void finish_gradients(const BackwardInputs& in, HeadGradients& out);

/// What differentiate_fused() allocates: d_Q once a part of the keys, d_K, d_V, d_bias, and what each worker works in.
double backward_bytes(const Call& call);

/// Gradients of attention alone, on every thread; nullopt when it was stopped. The same numbers in
/// every run on the same number of threads.
std::optional<HeadGradients> differentiate_fused(const BackwardInputs& in,
                                                 const RunControl& control);

}  // namespace attn
