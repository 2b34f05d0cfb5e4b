#pragma once

#include "app/gl/compute_device.h"
#include "core/engine.h"

namespace attn::gl {

/// Every stage in `keep`, and logsumexp, computed by `device`: by the fused kernel when no stage of query-key pairs is
/// wanted, else by one kernel a stage, some rows at a time. Validated arguments. Edges as attend() in engine.h.
/// Throws ComputeFailure, also when `control` was stopped.
Trace compute_forward(Device& device, const Inputs& inputs, const AttentionSpec& spec,
                      const Dimensions& size, StageSet keep, const RunControl& control);

}  // namespace attn::gl
