#pragma once

#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/lookup/actions.h"

namespace attn::view {

/// Interference over d_k. See requests.h.
struct CapacityRequest {
    CapacitySettings of;
    bool operator==(const CapacityRequest&) const = default;
};
/// nullopt while the page is not shown, or its curves are up to date.
std::optional<CapacityRequest> requested_capacity(const AppState& state);
/// CapacityReady.
Action run(const CapacityRequest& request, const RunControl& control);

}  // namespace attn::view
