#include "core/models/distances.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace attn {

Index distance_bucket(Index distance, bool both_sides, Index buckets, Index farthest) {
    const Index half = both_sides ? buckets / 2 : buckets;
    const Index first = both_sides && distance > 0 ? half : 0;
    const Index away = both_sides ? std::abs(distance) : std::max<Index>(-distance, 0);
    const Index near = half / 2;
    if (away < near) return first + away;
    const float steps =
        std::log(static_cast<float>(away) / static_cast<float>(near)) /
        static_cast<float>(std::log(static_cast<double>(farthest) / static_cast<double>(near))) *
        static_cast<float>(half - near);
    return first + std::min(near + static_cast<Index>(steps), half - 1);
}

Tensor distance_scores(const Tensor& table, bool both_sides, Index farthest, Index first, Index tq,
                       Index tk) {
    const Index heads = table.shape().d;
    Tensor scores({1, 1, heads, tq + tk - 1});
    for (Index n = 0; n < tq + tk - 1; ++n) {
        const Index row =
            distance_bucket(n - (tq - 1) - first, both_sides, table.shape().t, farthest);
        for (Index h = 0; h < heads; ++h) scores(0, 0, h, n) = table(0, 0, row, h);
    }
    return scores;
}

}  // namespace attn
