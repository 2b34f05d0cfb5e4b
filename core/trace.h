#pragma once

#include <array>
#include <cstdint>

#include "core/stage.h"
#include "core/tensor.h"

namespace attn {

/// One tensor for each parameter; empty = not there (no bias, no W_O).
template <class Scalar>
struct ParamsOf {
    std::array<TensorOf<Scalar>, kParamCount> tensors;

    TensorOf<Scalar>& operator[](Param param) { return tensors[index_of(param)]; }
    const TensorOf<Scalar>& operator[](Param param) const { return tensors[index_of(param)]; }
};

/// The inputs of one attention call: either X (and X_kv for cross-attention) with W_Q, W_K, W_V, or
/// Q, K and V themselves. W_O and biases are optional either way (b_Q, b_K, b_V need X).
template <class Scalar>
struct InputsOf {
    TensorOf<Scalar> x;       // [B,1,Tq,d_model]
    TensorOf<Scalar> x_kv;    // [B,1,Tk,d_model_kv]; empty: self-attention
    TensorOf<Scalar> q;       // [B,H,Tq,d_k]
    TensorOf<Scalar> k;       // [B,Hkv,Tk,d_k]
    TensorOf<Scalar> v;       // [B,Hkv,Tk,d_v]
    ParamsOf<Scalar> params;  // w_q [1,1,d_model,H·d_k], w_o [1,1,H·d_v,d_out], b_q [1,1,1,H·d_k]

    bool projects() const { return !x.empty(); }
};

/// A "trace" is everything that one attention call computed: every stage's tensor, by stage.
/// Its gradients are a second trace with the same shapes: d_scores is the `scores` of that one.
/// An empty tensor was not kept, or does not exist in this call.
template <class Scalar>
struct TraceOf {
    std::array<TensorOf<Scalar>, kStageCount> stages;
    TensorOf<Scalar> logsumexp;  // [B,H,Tq,1] of the masked stage; −inf for an empty row
    /// logsumexp · log₂ e in two numbers, [B,H,Tq,1] each, where a backend needs more digits than their sum holds: the
    /// row's largest logit and log₂ of the sum of exponentials below it. Empty elsewhere.
    TensorOf<Scalar> row_max;
    TensorOf<Scalar> row_log2_sum;
    ParamsOf<Scalar> params;  // in a gradient trace: d_w_q, …; empty in a forward trace
    TensorOf<Scalar> bias;    // in a gradient trace: d_bias, in the bias's shape; else empty

    TensorOf<Scalar>& operator[](Stage stage) { return stages[index_of(stage)]; }
    const TensorOf<Scalar>& operator[](Stage stage) const { return stages[index_of(stage)]; }
};

/// The stages whose tensors are there.
template <class Scalar>
StageSet held_stages(const TraceOf<Scalar>& trace) {
    StageSet held;
    for (std::size_t s = 0; s < kStageCount; ++s) held[s] = !trace.stages[s].empty();
    return held;
}

/// The upstream gradient of a backward pass, given at `context` or (when there is a W_O) at
/// `output`. An empty tensor means ones: L = Σ of that stage. Given at `context`, the gradients
/// of `output`, W_O and b_O do not exist.
template <class Scalar>
struct UpstreamOf {
    Stage stage = Stage::output;
    TensorOf<Scalar> gradient;
};

using Params = ParamsOf<float>;
using Inputs = InputsOf<float>;
using Trace = TraceOf<float>;
using Upstream = UpstreamOf<float>;
using ParamsD = ParamsOf<double>;
using InputsD = InputsOf<double>;
using TraceD = TraceOf<double>;
using UpstreamD = UpstreamOf<double>;

}  // namespace attn
