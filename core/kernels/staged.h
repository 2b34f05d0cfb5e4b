#pragma once

#include "core/backend.h"
#include "core/engine.h"
#include "core/kernels/projections.h"
#include "core/run_control.h"

namespace attn {

/// Attention in float with every stage stored, on every thread that threads.h gives; SIMD chosen at run time, see
/// staged_tiles.cpp. Beside the stages it holds K and V once more, packed, and a block of rows a
/// thread. Large stages of a trace that was freed lend their memory to the next one (blocks.h).
/// Edge: scores beyond the float range become inf and their row NaN, never a plausible number.
/// Fails when `control` was stopped.
Result<Trace> staged_forward(const Call& call, StageSet keep, const RunControl& control = {});

/// The gradients of every stage, products by Eigen; key/value heads go to threads. Fails when `control` was stopped.
Result<Trace> staged_backward(const Call& call, const Trace& forward, const Upstream& upstream,
                              const RunControl& control = {});

const Backend& staged_backend();

}  // namespace attn
