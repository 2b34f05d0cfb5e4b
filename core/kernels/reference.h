#pragma once

#include "core/backend.h"
#include "core/engine.h"

namespace attn {

/// Attention in double with plain loops, written to be read against the formulas: the reference of every
/// other backend. The arguments are validated; `keep` says which stages are held in the result.
TraceD reference_forward(const InputsD& inputs, const AttentionSpec& spec, const Dimensions& size,
                         StageSet keep);

/// Every gradient; `forward` holds what validate_backward asks for.
TraceD reference_backward(const InputsD& inputs, const AttentionSpec& spec, const Dimensions& size,
                          const TraceD& forward, const UpstreamD& upstream);

/// The same behind the backend interface: float in, double inside, float out. Scores too large for a
/// float come out as inf in `scores` while the weights, computed before that rounding, stay right.
const Backend& reference_backend();

}  // namespace attn
