#pragma once

#include "app/workspaces/kinds/compute.h"

namespace attn::view {

/// Q, K and V of the head shown, into `result`: the document's own, or projected.
Result<void> take_inputs(const AppState& state, KindsResult& result);
/// What the side is a call of: its inputs, spec, head, factor and slope, by its kind.
void set_call(const AppState& state, const KindsResult& result, KindComputed& side);

}  // namespace attn::view
