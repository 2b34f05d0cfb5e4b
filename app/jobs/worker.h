#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "app/jobs/job.h"

namespace attn::jobs {

/// Answers each request with one action, on a thread of its own that is started for the first one. Where no thread is to
/// be had it answers at once, on the caller's.
template <class Request>
class Worker : public Job {
  public:
    /// What a state requests; nullopt: nothing.
    using Requested = std::function<std::optional<Request>(const view::AppState& state)>;
    /// Called on the worker's thread; what it gives once `control` was stopped is thrown away.
    using Run = std::function<view::Action(const Request& request, const RunControl& control)>;

    /// `name` is what its progress is said of. `wake` is called from the worker's thread when something can be taken.
    Worker(std::string name, Requested requested, Run run, std::function<void()> wake)
        : name_(std::move(name)),
          requested_(std::move(requested)),
          run_(std::move(run)),
          wake_(std::move(wake)) {}

    ~Worker() override {
        const std::scoped_lock lock(mutex_);
        next_.reset();
        current_.request_stop();
        thread_.request_stop();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    void update(const view::AppState& state) override { update(requested_(state)); }

    void update(const std::optional<Request>& request) {
        if (last_ == request) return;
        last_ = request;
        {
            const std::scoped_lock lock(mutex_);
            current_.request_stop();
            next_ = request;
            answer_.reset();
            done_.reset();
        }
        if (request && !start()) {
            answer_ = run_(*std::exchange(next_, std::nullopt), {});
            wake_();
        }
        changed_.notify_all();
    }

    view::Actions take() override {
        const std::scoped_lock lock(mutex_);
        view::Actions taken;
        if (const auto done = std::exchange(done_, std::nullopt))
            taken.emplace_back(view::JobProgress{name_, *done});
        if (answer_) taken.push_back(*std::exchange(answer_, std::nullopt));
        return taken;
    }

    void settle() override {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !next_ && !busy_; });
    }

  private:
    /// False where the system gives no thread.
    bool start() {
        if (thread_.joinable()) return true;
        try {
            thread_ = std::jthread([this](const std::stop_token& quit) { work(quit); });
        } catch (const std::system_error&) {
            return false;
        }
        return true;
    }

    void work(const std::stop_token& quit) {
        std::unique_lock lock(mutex_);
        while (changed_.wait(lock, quit, [this] { return next_.has_value(); })) {
            const Request request = *std::exchange(next_, std::nullopt);
            current_ = std::stop_source();
            const std::stop_token stop = current_.get_token();
            busy_ = true;
            lock.unlock();
            view::Action answer = answer_to(request, stop);
            lock.lock();
            busy_ = false;
            if (!stop.stop_requested()) answer_ = std::move(answer);
            changed_.notify_all();
            if (answer_) wake_();
        }
    }

    /// What does not fit in memory is a fault that the person reads, not the end of the program.
    view::Action answer_to(const Request& request, const std::stop_token& stop) try {
        return run_(request, {stop, [this, stop](double done) { report(stop, done); }});
    } catch (const std::bad_alloc&) {
        return view::Notify{{name_ + ": there is not enough memory for it", view::Severity::error}};
    }

    void report(const std::stop_token& stop, double done) {
        {
            const std::scoped_lock lock(mutex_);
            if (stop.stop_requested()) return;
            done_ = done;
        }
        wake_();
    }

    std::string name_;
    Requested requested_;
    Run run_;
    std::function<void()> wake_;
    std::optional<Request> last_;  // the caller's: what was requested last
    std::mutex mutex_;             // of what follows
    std::condition_variable_any changed_;
    std::optional<Request> next_;  // not begun
    std::stop_source current_;     // of the one being answered
    bool busy_ = false;
    std::optional<double> done_;  // its progress, until it is taken
    std::optional<view::Action> answer_;
    std::jthread thread_;  // last: it uses all else
};

}  // namespace attn::jobs
