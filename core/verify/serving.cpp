// s split, b sequence, h head, i query, l logsumexp.

#include "core/verify/serving.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/entries.h"

namespace attn::verify {

std::vector<Index> split_starts(Index keys, Index count, Index unit) {
    const Index blocks = (keys + unit - 1) / unit;
    const Index step = std::max<Index>((blocks + count - 1) / count, 1) * unit;
    std::vector<Index> starts;
    for (Index s = 0; s <= count; ++s) starts.push_back(std::min(s * step, keys));
    return starts;
}

Merged merged(const SplitResults& parts, Index batch, const TensorD& sinks) {
    constexpr double kNone = -std::numeric_limits<double>::infinity();
    const Shape shape = parts.context.shape();
    const Index splits = shape.b / batch;
    Merged made{TensorD({batch, shape.h, shape.t, shape.d}), TensorD({batch, shape.h, shape.t, 1})};
    for_each_row({batch, shape.h, shape.t, 1}, [&](Index b, Index h, Index i) {
        const double sink = sinks.empty() ? kNone : sinks(0, 0, 0, h);
        double most = sink, sum = 0.0;
        const auto of = [&](Index s) {
            return static_cast<double>(parts.logsumexp(s * batch + b, h, i, 0));
        };
        for (Index s = 0; s < splits; ++s) most = std::max(most, of(s));
        made.logsumexp(b, h, i, 0) = kNone;
        if (most == kNone) return;
        if (sink != kNone) sum += std::exp(sink - most);
        for (Index s = 0; s < splits; ++s) sum += std::exp(of(s) - most);
        for (Index s = 0; s < splits; ++s) {
            const double weight = std::exp(of(s) - most) / sum;
            for (Index c = 0; weight > 0.0 && c < shape.d; ++c)
                made.context(b, h, i, c) +=
                    weight * static_cast<double>(parts.context(s * batch + b, h, i, c));
        }
        made.logsumexp(b, h, i, 0) = most + std::log(sum);
    });
    return made;
}

}  // namespace attn::verify
