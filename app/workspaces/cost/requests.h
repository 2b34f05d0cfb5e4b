#pragma once

#include <optional>

#include "app/workspaces/cost/actions.h"

namespace attn::view {

/// The engine at these sizes, this machine's peak and bandwidth. See requests.h.
struct CostRequest {
    CostControls of;
    bool operator==(const CostRequest&) const = default;
};
/// nullopt unless it was asked for: nothing is measured at rest.
std::optional<CostRequest> requested_cost(const AppState& state);
/// CostMeasured.
Action run(const CostRequest& request, const RunControl& control);

}  // namespace attn::view
