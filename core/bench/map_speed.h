#pragma once

#include "core/result.h"
#include "core/sizes.h"

namespace attn::bench {

/// What a person waits for at a map of weights, one head of width 64 without a mask. The threads of a map give way to
/// other programs and those of the fused backend do not: measure on a machine that does nothing else.
struct MapSpeed {
    Index tokens = 0;
    double preview_seconds = 0.0;   // from opening to the first picture, sampled
    double overview_seconds = 0.0;  // the exact pass
    double fused_gflops = 0.0;      // of 8 heads of 2048 tokens, before and after
    double overview_ratio = 0.0;    // overview_seconds · fused_gflops / (2 n² d · 1e-9)
    double slowest_view_ms =
        0.0;                  // 1200 × 800 texels never seen before: the slowest level's median
    double peak_bytes = 0.0;  // of the process; 0 where the system does not tell
};
Result<MapSpeed> measure_map(Index tokens);

}  // namespace attn::bench
