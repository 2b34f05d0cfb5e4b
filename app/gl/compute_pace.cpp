#include "app/gl/compute_pace.h"

#include <algorithm>

namespace attn::gl {
namespace {

constexpr double kMostGrowth = 4.0;

}  // namespace

void Pace::learn(Index units, double elapsed_ms) {
    const double growth = std::min(goal_ms_ / std::max(elapsed_ms, 1e-3), kMostGrowth);
    const auto fitting = static_cast<Index>(static_cast<double>(units) * growth);
    // The last dispatch of some work may be small: that it was quick says nothing.
    if (growth < 1.0 || fitting > allowance_) allowance_ = std::max<Index>(fitting, 1);
}

}  // namespace attn::gl
