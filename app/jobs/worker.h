#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "app/common/actions.h"
#include "app/common/latest_worker.h"
#include "app/common/request.h"
#include "core/run_control.h"

namespace attn::jobs {

/// Answers each request with one action (answered() in request.h), on a thread of its own. Where no thread is to be had take() and
/// wait_until_idle() answer on the caller's, so that a frame with the progress note comes first.
class Worker : public view::Job {
  public:
    using Request = view::Request;
    /// A request runs on the worker's thread; what it gives once it was stopped is thrown away. `wake` is called from that
    /// thread when something can be taken.
    Worker(const view::RequestKind& kind, view::Opener open, std::function<void()> wake)
        : kind_(kind), open_(std::move(open)), wake_(std::move(wake)) {}

    void update(const view::AppState& state) override { update(view::open_request(kind_, state)); }

    void update(const std::optional<Request>& request) {
        if (last_ == request) return;
        last_ = request;
        const auto discard = [this] {
            answer_.reset();
            done_.reset();
        };
        if (!worker_.submit(request, discard)) wake_();
    }

    view::Actions take() override {
        answer_here();
        view::Actions taken;
        worker_.locked([&] {
            if (const auto done = std::exchange(done_, std::nullopt))
                taken.emplace_back(view::JobProgress{std::string(kind_.name), *done});
            if (answer_) taken.push_back(*std::exchange(answer_, std::nullopt));
        });
        return taken;
    }

    void wait_until_idle() override {
        answer_here();
        worker_.wait_until_idle();
    }

  private:
    void answer_here() {
        if (const auto request = worker_.take_request()) work(*request, {});
    }

    void work(const Request& request, const std::stop_token& stop) {
        const auto report = [&](double done) { publish(stop, [&] { done_ = done; }); };
        const view::Action answer = view::answered(kind_.name, request, open_, {stop, report});
        publish(stop, [&] { answer_ = answer; });
    }

    template <class Keep>
    void publish(const std::stop_token& stop, const Keep& keep) {
        if (worker_.publish(stop, keep)) wake_();
    }

    view::RequestKind kind_;
    view::Opener open_;
    std::function<void()> wake_;
    std::optional<Request> last_;         // the caller's: what was requested last
    std::optional<double> done_;          // progress, until it is taken; under the worker's lock
    std::optional<view::Action> answer_;  // the same
    view::LatestWorker<Request> worker_{
        [this](const Request& request, const std::stop_token& stop) { work(request, stop); }};
};

}  // namespace attn::jobs
