#pragma once

#include <stop_token>
#include <utility>

namespace attn {

// Cancellation of long computations. A caller sets a StopScope around a call; the loops of core call end_if_stopped()
// between pieces of work of at most some milliseconds, also on the threads of parallel_for(). The token belongs to the
// thread and is no parameter, because each of some hundred functions between a job and its innermost loop would only
// hand it on, and one that forgets it could not be stopped at all. Without a scope nothing is thrown.

/// What end_if_stopped() throws. No std::exception, so that no handler takes it for an error.
struct Stopped {};

/// While it lives, the work of this thread can be stopped by `stop`. The innermost scope counts.
class StopScope {
  public:
    explicit StopScope(std::stop_token stop)
        : stop_(std::move(stop)), outer_(std::exchange(current(), &stop_)) {}
    ~StopScope() { current() = outer_; }
    StopScope(const StopScope&) = delete;
    StopScope& operator=(const StopScope&) = delete;

    /// The token of this thread's innermost scope; one that never stops where there is no scope.
    static std::stop_token token() { return current() ? *current() : std::stop_token(); }

  private:
    friend bool is_stopped();
    static const std::stop_token*& current() {
        thread_local const std::stop_token* innermost = nullptr;
        return innermost;
    }

    std::stop_token stop_;
    const std::stop_token* outer_;
};

/// Whether the innermost scope of this thread was stopped.
inline bool is_stopped() {
    const std::stop_token* const stop = StopScope::current();
    return stop != nullptr && stop->stop_requested();
}

/// Throws Stopped where is_stopped(). Costs a nanosecond: once for each row of a matrix is often enough.
inline void end_if_stopped() {
    if (is_stopped()) throw Stopped{};
}

}  // namespace attn
