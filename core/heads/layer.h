#pragma once

#include "core/heads/all.h"
#include "core/trace.h"

namespace attn {

/// One layer of HeadsInput: its weights, and the trace that they are from, with V and context where there are values.
struct ComputedLayer {
    HeadsLayer layer;
    Trace trace;
};
/// All but the rollout, which needs the other layers. Errors: of its inputs, of the backend; it has no such sequence.
Result<ComputedLayer> compute_layer(const HeadsInput& input, const HeadsOptions& options, Index n,
                                    const RunControl& control);

/// Inputs, with one column of zeros as values where there are queries and keys alone: weights ask for none. `room` keeps
/// what was added.
const Inputs& with_values(const Inputs& inputs, Inputs& buffer);

}  // namespace attn
