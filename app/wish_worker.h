#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "app/view/actions.h"

namespace attn {

/// Answers wishes on a thread of its own. The newest wish wins: an older one that is still being answered is given up.
template <class Wish>
class WishWorker {
  public:
    /// Called on the worker's thread; what it gives once `stop` was requested is thrown away.
    using Answer = std::function<view::Action(const Wish& wish, const std::stop_token& stop)>;

    /// `wake` is called from the worker's thread when an answer waits.
    WishWorker(Answer answer, std::function<void()> wake)
        : answer_(std::move(answer)),
          wake_(std::move(wake)),
          thread_([this](const std::stop_token& quit) { work(quit); }) {}

    ~WishWorker() {
        const std::scoped_lock lock(mutex_);
        next_.reset();
        job_.request_stop();
        thread_.request_stop();
    }
    WishWorker(const WishWorker&) = delete;
    WishWorker& operator=(const WishWorker&) = delete;

    /// Asks for this, unless it was the last that was asked for; nullopt: for nothing any more. Never waits.
    void want(const std::optional<Wish>& wish) {
        if (wanted_ == wish) return;
        wanted_ = wish;
        const std::scoped_lock lock(mutex_);
        job_.request_stop();
        next_ = wish;
        result_.reset();
        changed_.notify_one();
    }

    /// The answer to the last wish, once.
    std::optional<view::Action> take() {
        const std::scoped_lock lock(mutex_);
        return std::exchange(result_, std::nullopt);
    }

  private:
    void work(const std::stop_token& quit) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, quit, [this] { return next_.has_value(); })) {
            const Wish wish = *std::exchange(next_, std::nullopt);
            job_ = std::stop_source();
            const std::stop_token stop = job_.get_token();
            lock.unlock();
            view::Action result = answer_(wish, stop);
            lock.lock();
            if (stop.stop_requested()) continue;
            result_ = std::move(result);
            wake_();
        }
    }

    Answer answer_;
    std::function<void()> wake_;
    std::optional<Wish> wanted_;  // the last wish
    std::mutex mutex_;            // of what follows
    std::condition_variable_any changed_;
    std::optional<Wish> next_;  // not begun
    std::stop_source job_;      // of the one being answered
    std::optional<view::Action> result_;
    std::jthread thread_;  // last: started when all else is there
};

}  // namespace attn
