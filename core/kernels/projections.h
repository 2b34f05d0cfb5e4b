#pragma once

#include "core/engine.h"
#include "core/trace.h"

namespace attn {

// What every float backend does around attention itself, products by Eigen: X to Q, K and V before it,
// the joined heads to the output after it, and the gradients of both.

/// Q [B,H,Tq,d_k], K [B,Hkv,Tk,d_k], V [B,Hkv,Tk,d_v], wherever they came from.
struct HeadTensors {
    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
};
/// The caller's own, or projected into `trace`.
HeadTensors head_tensors(const Inputs& in, const AttentionSpec& spec, const Dimensions& size,
                         Trace& trace);
/// Copies the inputs that are to be kept; drops what was computed on the way and is not.
void keep_only(const Inputs& in, StageSet keep, Trace& trace);

/// Q, K or V from X (or X_kv): X W + b split into heads, head h owning columns h·d .. (h + 1)·d.
Tensor project(const Inputs& in, Stage stage, const Shape& shape);

/// Y = concat(heads) W_O + b_O, or the joined heads when there is no W_O. `context` [B,H,Tq,d_v].
Tensor join_heads(const Inputs& in, const Dimensions& size, const Tensor& context);

/// From d[output] to d[context], which is allocated, and d_W_O, d_b_O. `context` as forward gave it.
void output_backward(const Inputs& in, const Dimensions& size, const Tensor& context, Trace& d);

/// From d[q], d[k], d[v] to d[x], d[x_kv] and the gradients of W_Q, W_K, W_V and their biases;
/// nothing when Q, K, V were given.
void inputs_backward(const Inputs& in, Trace& d);

}  // namespace attn
