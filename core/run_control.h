#pragma once

#include <functional>
#include <stop_token>

namespace attn {

/// How a caller watches a long computation and ends it early.
struct RunControl {
    /// Checked between pieces of work; once stopped, the result is thrown away. See also StopScope in core/stop.h.
    std::stop_token stop;
    /// Told the fraction done, in (0, 1], from whichever thread got there. May be empty.
    std::function<void(double)> progress;
};

}  // namespace attn
