#pragma once

#include "core/sizes.h"

namespace attn::gl {

/// How much of a kernel's work goes into one dispatch, so that none takes much longer than a goal: a screen that
/// shares the graphics card stays alive, and a stop is heard. Work is counted in units of the caller's choice.
class Pace {
  public:
    explicit Pace(double goal_ms) : goal_ms_(goal_ms) {}
    /// At least 1. Starts there, and grows at most fourfold from dispatch to dispatch.
    Index allowance() const { return allowance_; }
    /// `units` took `elapsed_ms`.
    void learn(Index units, double elapsed_ms);

  private:
    double goal_ms_;
    Index allowance_ = 1;
};

}  // namespace attn::gl
