#pragma once

#include "core/forward.h"
#include "core/sizes.h"

namespace attn {

class Backend;
struct HeadsLayer;
struct HeadsResult;

// What a layer's other pictures are made of, found beside its weights.

/// ‖v_j‖ and ‖v_j W_O‖ of every head and key of one sequence.
void find_norms(const Trace& trace, const Inputs& inputs, Index batch, HeadsLayer& layer);
/// Why it has none, without the numbers.
void find_norm_faults(const Trace& trace, const Inputs& inputs, HeadsLayer& layer);
/// ∂L/∂weights of a trace that has every stage; L = Σ of the layer's own outputs.
void find_gradient(const Call& call, const Backend& backend, const Trace& trace, HeadsLayer& layer);
/// Of every layer, with all before it; not defined from the first layer on that is not square, or is of another size.
void find_rollout(HeadsResult& result);

}  // namespace attn
