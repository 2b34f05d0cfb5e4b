#pragma once

#include "core/sizes.h"

namespace attn::train {

/// A point of the curve of held-out answers.
struct HeldOutPoint {
    Index step = 0;      // steps that were made
    double right = 0.0;  // share of the answers
    bool operator==(const HeldOutPoint&) const = default;
};
/// Whether that curve has a point after `step` steps: eight from a power of two to the next.
bool is_held_out_step(Index step);

}  // namespace attn::train
