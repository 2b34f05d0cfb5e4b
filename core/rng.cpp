#include "core/rng.h"

#include <cmath>
#include <numbers>

namespace attn {

double normal(std::uint64_t seed, std::uint64_t counter) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(seed, 2 * counter)));
    return radius * std::cos(2.0 * std::numbers::pi * uniform(seed, 2 * counter + 1));
}

}  // namespace attn
