#pragma once

#include <memory>
#include <vector>

#include "core/saturation.h"

namespace attn::view {

/// Settings of the Saturation workspace; undone with the document.
struct SaturationControls {
    SaturationSettings settings;
    Index d_k = 64;
    bool scaling = true;  // the side in focus: its Jacobian is drawn
    Index draw = 0;       // trial shown in the sampled model; "re-draw" adds 1
    bool operator==(const SaturationControls&) const = default;
};

/// The curves over d_k, from a job.
struct SaturationCurves {
    std::shared_ptr<const std::vector<SaturationPoint>> sweep;  // null until the first one is ready
    SaturationSettings settings;                                // what it was computed for
    double elapsed_ms = 0.0;
};

}  // namespace attn::view
