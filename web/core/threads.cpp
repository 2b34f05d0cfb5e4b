#include "core/threads.h"

namespace attn {

// A page that may be opened from a disk has no threads: everything runs on the caller's.

struct ThreadLimit::Hold {};

ThreadLimit::ThreadLimit(int) {}
ThreadLimit::~ThreadLimit() = default;

int thread_slots() { return 1; }
int thread_count() { return 1; }

bool parallel_for(Index count, const RunControl& control,
                  const std::function<void(Index n, int slot)>& body) {
    for (Index n = 0; n < count; ++n) {
        if (control.stop.stop_requested()) return false;
        body(n, 0);
        if (control.progress)
            control.progress(static_cast<double>(n + 1) / static_cast<double>(count));
    }
    return true;
}

int run_at_once(int count, const std::function<void(int n)>& body) {
    if (count < 1) return 0;
    body(0);
    return 1;
}

}  // namespace attn
