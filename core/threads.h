#pragma once

#include <functional>
#include <memory>

#include "core/run_control.h"
#include "core/sizes.h"

namespace attn {

/// How many threads a computation started here may use, the caller included.
int thread_count();

/// While it lives, parallel_for uses at most `threads` of them (at least 1).
class ThreadLimit {
  public:
    explicit ThreadLimit(int threads);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

  private:
    struct Hold;
    std::unique_ptr<Hold> hold_;
};

/// Calls body(n, slot) for n = 0 … count − 1, in that order of starting, on several threads.
/// `slot` < thread_slots() differs between calls that run at the same time: it picks scratch memory.
/// Returns false when `control` was stopped: then some n never ran. Throws Stopped when the caller's StopScope
/// (core/stop.h) was.
bool parallel_for(Index count, const RunControl& control,
                  const std::function<void(Index n, int slot)>& body);

/// Calls body(n) for n = 0, 1, … each at the same time on a thread of its own, `count` of them or as many as
/// the machine gives; on the caller's thread where it gives none. Returns how many n were called. What one throws is thrown when all have ended.
int run_at_once(int count, const std::function<void(int n)>& body);

/// One more than the largest slot.
int thread_slots();

}  // namespace attn
