#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "app/common/actions.h"
#include "app/common/request.h"

namespace attn::jobs {

/// Answers each request with one action (answered() in request.h), on a thread of its own that is started for the first one. Where no thread is to
/// be had take() and settle() answer on the caller's, so that a frame that says what is computed comes first.
class Worker : public view::Job {
  public:
    using Request = view::Request;
    /// A request runs on the worker's thread; what it gives once it was stopped is thrown away. `wake` is called from that
    /// thread when something can be taken.
    Worker(const view::RequestKind& kind, view::Opener open, std::function<void()> wake)
        : kind_(kind), open_(std::move(open)), wake_(std::move(wake)) {}

    ~Worker() override {
        const std::scoped_lock lock(mutex_);
        next_.reset();
        current_.request_stop();
        thread_.request_stop();
    }

    void update(const view::AppState& state) override { update(view::open_request(kind_, state)); }

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
        if (request && !start()) wake_();
        changed_.notify_all();
    }

    view::Actions take() override {
        answer_here();
        const std::scoped_lock lock(mutex_);
        view::Actions taken;
        if (const auto done = std::exchange(done_, std::nullopt))
            taken.emplace_back(view::JobProgress{std::string(kind_.name), *done});
        if (answer_) taken.push_back(*std::exchange(answer_, std::nullopt));
        return taken;
    }

    void wait_until_idle() override {
        answer_here();
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

    void answer_here() {
        if (thread_.joinable() || !next_) return;
        answer_ = answer_to(*std::exchange(next_, std::nullopt), {});
        wake_();
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

    view::Action answer_to(const Request& request, const std::stop_token& stop) {
        return view::answered(kind_.name, request, open_,
                              {stop, [this, stop](double done) { report(stop, done); }});
    }

    void report(const std::stop_token& stop, double done) {
        {
            const std::scoped_lock lock(mutex_);
            if (stop.stop_requested()) return;
            done_ = done;
        }
        wake_();
    }

    view::RequestKind kind_;
    view::Opener open_;
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
