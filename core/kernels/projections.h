#pragma once

#include "core/forward.h"
#include "core/stage.h"

namespace attn {

struct Dimensions;
struct Shape;
template <class Scalar>
struct OperandsOf;
using Operands = OperandsOf<float>;

// What every float backend does around attention itself, products by matmul.h: X to Q, K and V before it,
// the joined heads to the output after it, and the gradients of both.

/// Q [B,H,Tq,d_k], K [B,Hkv,Tk,d_k], both normalised where QK-norm is on and turned where RoPE is, V [B,Hkv,Tk,d_v], wherever they came from.
struct HeadTensors {
    const Tensor& q;
    const Tensor& k;
    const Tensor& v;
};
/// The caller's own, or projected, normalised and turned into `trace`.
HeadTensors head_tensors(const Call& call, Trace& trace);
/// The same of q, k and v that are made already: normalised and turned into `trace`, or these themselves.
HeadTensors normed_and_turned(const Call& call, const HeadTensors& made, Trace& trace);
/// Those of a forward trace.
HeadTensors held_heads(const Call& call, const Trace& forward);
/// The operands of the scores' product beside V: what make_operands() made of q and k, or these themselves.
HeadTensors operands_of(const HeadTensors& heads, const Operands& made);
/// d[q], d[k], with RoPE d[q_rot], d[k_rot], with QK-norm d[q_norm], d[k_norm] and its weights', from the gradients of the scores'
/// operands, and those of the score's parameters.
void scores_backward(const Call& call, const Trace& forward, const HeadTensors& heads,
                     Operands&& d_operands, Trace& d);
/// Copies the inputs that are to be kept; drops what was computed on the way and is not.
void keep_only(const Inputs& in, StageSet keep, Trace& trace);

/// Q, K or V from X (or X_kv): X W + b split into heads, head h owning columns h·d .. (h + 1)·d.
Tensor project(const Inputs& in, Stage stage, const Shape& shape);

/// Y = concat(heads) W_O + b_O, or the joined heads when there is no W_O. `context` [B,H,Tq,d_v].
Tensor join_heads(const Inputs& in, const Dimensions& size, const Tensor& context);

/// What a backward pass begins with: d[output] or d[context] as `upstream` says, ones where it has no gradient, and of the
/// output d[context], d_W_O and d_b_O. `context` as forward gave it.
Trace begin_gradients(const Call& call, const Tensor& context, const Upstream& upstream);

/// From d[q], d[k], d[v] to d[x], d[x_kv] and the gradients of W_Q, W_K, W_V and their biases;
/// nothing when Q, K, V were given.
void inputs_backward(const Inputs& in, Trace& d);

}  // namespace attn
