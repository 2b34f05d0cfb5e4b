#pragma once

#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"

namespace attn::view {

/// All heads of all layers. See requests.h of app/view. nullopt while the workspace is not shown, or its heads are up to
/// date.
std::optional<HeadsRequest> requested_heads(const AppState& state);
/// HeadsReady. Stops between layers, and within one where its backend can.
Action run(const HeadsRequest& request, const RunControl& control);

}  // namespace attn::view
