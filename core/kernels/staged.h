#pragma once

#include "core/backend.h"
#include "core/engine.h"

namespace attn {

/// Attention in float, a stage at a time, products by Eigen. Validated arguments.
/// Speed: the two products dominate; what lies between them goes row by row while a row of scores is in
/// the first-level cache. Compared with the plain Eigen expression in tests/bench.
/// Edge: scores beyond the float range become inf and their row NaN, never a plausible number.
Trace staged_forward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                     StageSet keep);

Trace staged_backward(const Inputs& inputs, const AttentionSpec& spec, const Dimensions& size,
                      const Trace& forward, const Upstream& upstream);

const Backend& staged_backend();

}  // namespace attn
