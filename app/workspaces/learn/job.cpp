#include "app/workspaces/learn/job.h"

#include "app/common/actions.h"
#include "core/platform.h"

namespace attn::view {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenAnswers = std::chrono::milliseconds(66);
constexpr auto kSlice = std::chrono::milliseconds(12);

}  // namespace

void LearnJob::update(const AppState& state) {
    const auto request = requested_learning(state);
    if (!request || last_ == request) return;
    last_ = request;
    const auto discard = [this] {
        series_ = nullptr;
        thrown_ = nullptr;
    };
    if (!worker_.submit(request, discard)) wake_();
}

template <class Keep>
void LearnJob::publish(const std::stop_token& stop, const Keep& keep) {
    published_ = Clock::now();
    if (worker_.publish(stop, keep)) wake_();
}

void LearnJob::train(const LearnRequest& request, const std::stop_token& stop) {
    platform::lower_thread_priority();
    try {
        training_.request(request);
        published_ = Clock::now();
        while (training_.work(stop))
            if (Clock::now() - published_ >= kBetweenAnswers)
                publish(stop, [&, series = training_.series()] { series_ = series; });
        publish(stop, [&, series = training_.series()] { series_ = series; });
    } catch (...) {
        publish(stop, [this] { thrown_ = std::current_exception(); });
    }
}

/// For systems without threads.
void LearnJob::train_a_slice() {
    const auto request = worker_.take_request();
    if (!request && !trains_here_) return;
    try {
        if (request) training_.request(*request);
        const auto end = Clock::now() + kSlice;
        do {
            trains_here_ = training_.work({});
        } while (trains_here_ && Clock::now() < end);
        if (!trains_here_ || Clock::now() - published_ >= kBetweenAnswers) {
            series_ = training_.series();
            published_ = Clock::now();
        }
    } catch (...) {
        trains_here_ = false;
        thrown_ = std::current_exception();
    }
    wake_();
}

Actions LearnJob::take() {
    train_a_slice();
    Actions taken;
    worker_.locked([&] {
        if (thrown_)
            taken.emplace_back(
                RequestFailed{failed_request("learning", *last_, std::exchange(thrown_, nullptr))});
        if (series_) taken.emplace_back(LearnProgress{std::exchange(series_, nullptr)});
    });
    return taken;
}

void LearnJob::wait_until_idle() {
    do train_a_slice();
    while (trains_here_);
    worker_.wait_until_idle();
}

}  // namespace attn::view
