#include "core/threads.h"

#ifdef __EMSCRIPTEN__
#include <emscripten/threading.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <set>
#include <system_error>
#include <thread>

#include "core/stop.h"

// Threads of the standard library in place of TBB. A page without threads (web/CMakeLists.txt) runs everything on the caller's.

namespace attn {
namespace {

int usable_processors() {
#ifdef __EMSCRIPTEN__
    constexpr int kMostThreads = 8;  // as many as web/CMakeLists.txt has workers for
    if (!emscripten_has_threading_support()) return 1;
    return std::min(emscripten_num_logical_cores(), kMostThreads);
#else
    return static_cast<int>(std::thread::hardware_concurrency());
#endif
}

/// One parallel_for() that others may help with. All but `work` is under the pool's lock.
struct Job {
    const std::function<void(int slot)>& work;
    int most_helpers = 0;
    int helpers = 0;  // that began
    int running = 0;
};

/// The threads beside the caller's. A job waits only for those that began it: none has to be free, and calls may nest.
class Pool {
  public:
    explicit Pool(int helpers) {
        try {
            for (int n = 0; n < helpers; ++n) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {  // fewer are enough
        }
    }

    /// Calls work(0) here and work(1) … work(helpers) on threads that are free. `work` does not throw.
    void run(int helpers, const std::function<void(int slot)>& work) {
        Job job{work, helpers};
        {
            const std::lock_guard lock(mutex_);
            open_.push_back(&job);
        }
        news_.notify_all();
        work(0);
        std::unique_lock lock(mutex_);
        std::erase(open_, &job);
        ended_.wait(lock, [&] { return job.running == 0; });
    }

  private:
    void serve() {
        std::unique_lock lock(mutex_);
        for (;;) {
            news_.wait(lock, [this] { return !open_.empty(); });
            Job& job = *open_.back();  // the innermost: another waits for its end
            ++job.running;
            const int slot = ++job.helpers;
            if (job.helpers == job.most_helpers) std::erase(open_, &job);
            lock.unlock();
            job.work(slot);
            lock.lock();
            if (--job.running == 0) ended_.notify_all();
        }
    }

    std::mutex mutex_;  // of what follows
    std::condition_variable news_;
    std::condition_variable ended_;
    std::deque<Job*> open_;  // that still take helpers
};

/// For good, because its threads use it until the program ends.
Pool& pool() {
    static Pool& pool = *new Pool(thread_slots() - 1);
    return pool;
}

/// What the living ThreadLimits allow.
struct Limits {
    std::mutex mutex;
    std::multiset<int> all;
};
Limits& limits() {
    static Limits limits;
    return limits;
}

}  // namespace

struct ThreadLimit::Hold {
    explicit Hold(int threads) {
        const std::lock_guard lock(limits().mutex);
        place = limits().all.insert(threads);
    }
    ~Hold() {
        const std::lock_guard lock(limits().mutex);
        limits().all.erase(place);
    }
    Hold(const Hold&) = delete;
    Hold& operator=(const Hold&) = delete;

    std::multiset<int>::iterator place;
};

ThreadLimit::ThreadLimit(int threads) : hold_(std::make_unique<Hold>(std::max(threads, 1))) {}
ThreadLimit::~ThreadLimit() = default;

int thread_slots() {
    static const int slots = std::max(usable_processors(), 1);
    return slots;
}

int thread_count() {
    const std::lock_guard lock(limits().mutex);
    return limits().all.empty() ? thread_slots() : std::min(thread_slots(), *limits().all.begin());
}

bool parallel_for(Index count, const RunControl& control,
                  const std::function<void(Index n, int slot)>& body) {
    std::atomic<Index> next{0};
    std::atomic<Index> done{0};
    std::mutex mutex;
    std::exception_ptr thrown;  // the first; under the lock
    const std::stop_token outer = StopScope::token();
    const std::function<void(int)> work = [&](int slot) {
        const StopScope scope(outer);
        try {
            for (Index n = next++;
                 n < count && !control.stop.stop_requested() && !outer.stop_requested();
                 n = next++) {
                body(n, slot);
                const Index finished = ++done;
                if (control.progress)
                    control.progress(static_cast<double>(finished) / static_cast<double>(count));
            }
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!thrown) thrown = std::current_exception();
            next = count;
        }
    };
    const int threads = static_cast<int>(std::min<Index>(thread_count(), count));
    if (threads <= 1)
        work(0);
    else
        pool().run(threads - 1, work);
    if (thrown) std::rethrow_exception(thrown);
    end_if_stopped();
    return done == count;
}

}  // namespace attn
