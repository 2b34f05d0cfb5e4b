#include "core/threads.h"

#include <algorithm>
#include <atomic>

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include "core/stop.h"
#include "core/tsan.h"

namespace attn {

namespace {

// Stands for TBB's handing over of work and its waiting for the end: see tsan.h. Never read or written.
char handover;

}  // namespace

struct ThreadLimit::Hold {
    explicit Hold(std::size_t threads)
        : control(tbb::global_control::max_allowed_parallelism, threads) {}
    tbb::global_control control;
};

ThreadLimit::ThreadLimit(int threads)
    : hold_(std::make_unique<Hold>(static_cast<std::size_t>(std::max(threads, 1)))) {}

ThreadLimit::~ThreadLimit() = default;

int thread_slots() { return tbb::this_task_arena::max_concurrency(); }

int thread_count() {
    const std::size_t allowed =
        tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
    return std::min(thread_slots(), static_cast<int>(allowed));
}

bool parallel_for(Index count, const RunControl& control,
                  const std::function<void(Index n, int slot)>& body) {
    std::atomic<Index> next{0};
    std::atomic<Index> done{0};
    const std::stop_token outer = StopScope::token();
    // Each thread draws the next n itself, so that they start in order whatever TBB splits.
    const auto work = [&](int) {
        tsan_acquire(&handover);
        const StopScope scope(outer);
        // Negative before this thread's first work with TBB, when it is alone.
        const int slot = std::max(tbb::this_task_arena::current_thread_index(), 0);
        for (Index n = next++;
             n < count && !control.stop.stop_requested() && !outer.stop_requested(); n = next++) {
            body(n, slot);
            const Index finished = ++done;
            if (control.progress)
                control.progress(static_cast<double>(finished) / static_cast<double>(count));
        }
        tsan_release(&handover);
    };
    const int threads = static_cast<int>(std::min<Index>(thread_count(), count));
    tsan_release(&handover);
    if (threads <= 1)
        work(0);
    else
        tbb::parallel_for(0, threads, work, tbb::simple_partitioner());
    tsan_acquire(&handover);
    end_if_stopped();
    return done == count;
}

}  // namespace attn
