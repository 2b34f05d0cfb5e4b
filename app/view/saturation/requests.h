#pragma once

#include <optional>
#include <vector>

#include "app/view/actions.h"

namespace attn::view {

/// The curves over d_k for the present settings. See requests.h.
struct SweepRequest {
    SaturationSettings settings;
    bool operator==(const SweepRequest&) const = default;
};
/// nullopt while the workspace is not shown, or its curves are up to date.
std::optional<SweepRequest> requested_sweep(const AppState& state);
/// SweepReady.
Action run(const SweepRequest& request, const RunControl& control);

/// Limits of what the workspace can draw, narrower than those of core's check_saturation().
Result<void> check_controls(const SaturationControls& controls);

/// d_k of the curves: 1, 2, 4, … 4096.
std::vector<Index> sweep_widths();

}  // namespace attn::view
