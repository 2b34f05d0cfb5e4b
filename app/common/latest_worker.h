#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace attn::view {

/// A thread that works on the newest request: a new request stops the running one and replaces the waiting one. The thread is
/// started for the first request. Where the system has no thread, the owner takes the request and works on its own.
template <class Request>
class LatestWorker {
  public:
    /// `work` runs on the worker's thread, without the lock; it gives its results by publish().
    using Work = std::function<void(const Request&, const std::stop_token&)>;
    explicit LatestWorker(Work work) : work_(std::move(work)) {}

    ~LatestWorker() {
        const std::scoped_lock lock(mutex_);
        next_.reset();
        current_.request_stop();
        thread_.request_stop();
    }

    /// Replaces the request; none: only stops. `discard` drops results of requests before, under the lock. Returns false where a
    /// request waits for take_request().
    template <class Discard>
    bool submit(std::optional<Request> request, const Discard& discard) {
        const bool needs_thread = request.has_value();
        {
            const std::scoped_lock lock(mutex_);
            current_.request_stop();
            next_ = std::move(request);
            discard();
        }
        const bool served = !needs_thread || start();
        changed_.notify_all();
        return served;
    }

    /// A request that no thread will take.
    std::optional<Request> take_request() {
        return thread_.joinable() ? std::nullopt : std::exchange(next_, std::nullopt);
    }

    /// Runs `keep` under the lock, unless the request of `stop` was stopped: then returns false.
    template <class Keep>
    bool publish(const std::stop_token& stop, const Keep& keep) {
        const std::scoped_lock lock(mutex_);
        if (stop.stop_requested()) return false;
        keep();
        return true;
    }

    /// Runs `use` under the lock.
    template <class Use>
    void locked(const Use& use) {
        const std::scoped_lock lock(mutex_);
        use();
    }

    void wait_until_idle() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !next_ && !busy_; });
    }

  private:
    bool start() {
        if (thread_.joinable()) return true;
        try {
            thread_ = std::jthread([this](const std::stop_token& quit) { run(quit); });
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }

    void run(const std::stop_token& quit) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, quit, [this] { return next_.has_value(); })) {
            const Request request = *std::exchange(next_, std::nullopt);
            current_ = std::stop_source();
            const std::stop_token stop = current_.get_token();
            busy_ = true;
            lock.unlock();
            work_(request, stop);
            lock.lock();
            busy_ = false;
            changed_.notify_all();
        }
    }

    Work work_;
    std::mutex mutex_;  // of what follows, and of the owner's results
    std::condition_variable_any changed_;
    std::optional<Request> next_;  // not begun
    std::stop_source current_;     // of the running request
    bool busy_ = false;
    std::jthread thread_;  // last: it uses all else
};

}  // namespace attn::view
