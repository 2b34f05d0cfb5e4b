#pragma once

#include "core/rng.h"
#include "core/trace.h"

namespace attn::test {

/// A tensor of standard normal numbers; the same seed gives the same numbers everywhere.
template <class Scalar>
TensorOf<Scalar> normal_tensor(const Shape& shape, std::uint64_t seed, double scale = 1.0) {
    TensorOf<Scalar> tensor(shape);
    std::uint64_t counter = 0;
    for (Scalar& value : tensor.values())
        value = static_cast<Scalar>(scale * normal(seed, counter++));
    return tensor;
}

}  // namespace attn::test
