#pragma once

#include "core/backend.h"
#include "core/engine.h"

namespace attn {

/// Attention in double with plain loops, written to be read against the formulas: the reference of every
/// other backend. `keep` says which stages are held in the result. Fails when `control` was stopped.
Result<TraceD> reference_forward(const CallD& call, StageSet keep, const RunControl& control = {});

/// The stages after `from`, one of scores, scaled, biased, masked and weights, which is given as `pairs` [B,H,Tq,Tk] in
/// place of what Q and K would make; of those only the sizes count. V is a stage of the result, Q, K and what lies between
/// them and `from` are not; logsumexp is empty where weights are given.
Result<TraceD> reference_from(const CallD& call, Stage from, TensorD pairs, StageSet keep,
                              const RunControl& control = {});

/// Every gradient; `forward` holds what validate_backward asks for. Fails when `control` was stopped.
Result<TraceD> reference_backward(const CallD& call, const TraceD& forward,
                                  const UpstreamD& upstream, const RunControl& control = {});

/// The same behind the backend interface: float in, double inside, float out. Scores too large for a
/// float come out as inf in `scores` while the weights, computed before that rounding, stay right.
const Backend& reference_backend();

}  // namespace attn
