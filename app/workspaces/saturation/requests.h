#pragma once

#include <optional>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/workspaces/saturation/actions.h"

namespace attn::view {

/// d_k of the curves: 1, 2, 4, … 4096.
std::vector<Index> sweep_widths();
/// The same with the d_k that is looked at and the pinned one, rising, each once.
std::vector<Index> wanted_widths(const SaturationControls& controls);

/// The curves over d_k for the present settings.
struct SweepRequest {
    SaturationSettings settings;
    std::vector<Index> widths = sweep_widths();  // wanted_widths()
    bool operator==(const SweepRequest&) const = default;
};
/// nullopt while the workspace is not shown, or its curves are up to date.
std::optional<SweepRequest> requested_sweep(const AppState& state);
/// SweepReady.
Action run(const SweepRequest& request, const RunControl& control);

/// The gradients over d_k of as many rows as GradientSampling has by itself.
struct GradientSweepRequest {
    GradientSampling sampling;
    std::vector<Index> widths;  // wanted_widths()
    bool operator==(const GradientSweepRequest&) const = default;
};
/// nullopt while they are not shown, or up to date.
std::optional<GradientSweepRequest> requested_gradient_sweep(const AppState& state);
/// GradientSweepReady.
Action run(const GradientSweepRequest& request, const RunControl& control);

}  // namespace attn::view
