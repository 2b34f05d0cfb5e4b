#pragma once

// Before anything of Highway: which instruction sets there are.
#include "core/kernels/highway_targets.h"

#include <cstdint>

#include <hwy/highway.h>

namespace attn::test {

/// Calls check() once for each compiled instruction set that can run here.
template <class Check>
void on_every_target(const Check& check) {
    const std::int64_t possible = hwy::SupportedTargets() & HWY_TARGETS;
    for (std::int64_t left = possible; left != 0; left &= left - 1) {
        hwy::SetSupportedTargetsForTest(left & -left);
        check();
    }
    hwy::SetSupportedTargetsForTest(0);
}

}  // namespace attn::test
