#pragma once

#include <algorithm>
#include <vector>

#include "core/rng.h"
#include "core/stopwatch.h"
#include "core/tensor.h"

namespace attn::bench {

/// Numbers between −1.7 and 1.7: of variance about 1, and quick to make.
inline Tensor uniform_tensor(const Shape& shape, std::uint64_t seed) {
    Tensor tensor(shape);
    std::uint64_t counter = 0;
    for (float& value : tensor.values())
        value = static_cast<float>(3.4 * uniform(seed, counter++) - 1.7);
    return tensor;
}

template <class Work>
double seconds_of(const Work& work) {
    const Stopwatch watch;
    work();
    return watch.seconds();
}

inline double median(std::vector<double> values) {
    std::ranges::nth_element(values, values.begin() + static_cast<Index>(values.size() / 2));
    return values[values.size() / 2];
}

}  // namespace attn::bench
