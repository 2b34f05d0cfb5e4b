#pragma once

#include <optional>

#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/compute.h"

namespace attn::view {

/// Both sides computed again for their times alone. See requests.h.
struct KindsTimeRequest {
    std::shared_ptr<const KindsResult> of;
    bool operator==(const KindsTimeRequest&) const = default;
};
/// nullopt unless it was asked for: nothing is measured at rest.
std::optional<KindsTimeRequest> requested_kinds_time(const AppState& state);
/// KindsMeasured.
Action run(const KindsTimeRequest& request, const RunControl& control);

}  // namespace attn::view
