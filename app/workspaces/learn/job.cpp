#include "app/workspaces/learn/job.h"

#include <sys/resource.h>
#include <unistd.h>

#include <system_error>

#include "app/common/actions.h"

namespace attn::view {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kBetweenAnswers = std::chrono::milliseconds(66);
constexpr auto kSlice = std::chrono::milliseconds(12);

/// On Linux a nice value is a thread's own; threads that it starts have it too.
void yield_to_others() {
    constexpr int kNice = 10;
    // Without it training goes on all the same.
    [[maybe_unused]] const int refused =
        setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), kNice);
}

}  // namespace

LearnJob::~LearnJob() {
    const std::scoped_lock lock(mutex_);
    next_.reset();
    current_.request_stop();
    thread_.request_stop();
}

void LearnJob::update(const AppState& state) {
    const auto request = requested_learning(state);
    if (!request || last_ == request) return;
    last_ = request;
    {
        const std::scoped_lock lock(mutex_);
        current_.request_stop();
        next_ = request;
        series_ = nullptr;
        thrown_ = nullptr;
    }
    start();
    changed_.notify_all();
}

void LearnJob::start() {
    if (thread_.joinable()) return;
    try {
        thread_ = std::jthread([this](const std::stop_token& quit) { work(quit); });
    } catch (const std::system_error&) {
        wake_();
    }
}

/// For systems without threads.
void LearnJob::work_a_slice(std::chrono::nanoseconds slice) {
    if (thread_.joinable() || !(next_ || busy_)) return;
    try {
        if (next_) training_.request(*std::exchange(next_, std::nullopt));
        const auto end = Clock::now() + slice;
        do {
            busy_ = training_.work({});
        } while (busy_ && Clock::now() < end);
        if (!busy_ || Clock::now() - published_ >= kBetweenAnswers) {
            series_ = training_.series();
            published_ = Clock::now();
        }
    } catch (...) {
        busy_ = false;
        thrown_ = std::current_exception();
    }
    wake_();
}

Actions LearnJob::take() {
    work_a_slice(kSlice);
    const std::scoped_lock lock(mutex_);
    Actions taken;
    if (thrown_)
        taken.emplace_back(
            RequestFailed{failed_request("learning", *last_, std::exchange(thrown_, nullptr))});
    if (series_) taken.emplace_back(LearnProgress{std::exchange(series_, nullptr)});
    return taken;
}

void LearnJob::wait_until_idle() {
    while (!thread_.joinable() && (next_ || busy_)) work_a_slice(kSlice);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !next_ && !busy_; });
}

void LearnJob::work(const std::stop_token& quit) {
    yield_to_others();
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, quit, [this] { return next_.has_value(); })) {
        const LearnRequest request = *std::exchange(next_, std::nullopt);
        current_ = std::stop_source();
        const std::stop_token stop = current_.get_token();
        busy_ = true;
        lock.unlock();
        const auto publish = [&] {
            auto series = training_.series();
            const std::scoped_lock held(mutex_);
            if (!stop.stop_requested()) series_ = std::move(series);
        };
        try {
            training_.request(request);
            auto published = Clock::now();
            while (training_.work(stop)) {
                if (Clock::now() - published < kBetweenAnswers) continue;
                publish();
                wake_();
                published = Clock::now();
            }
            if (!stop.stop_requested()) publish();
        } catch (...) {
            const std::scoped_lock held(mutex_);
            if (!stop.stop_requested()) thrown_ = std::current_exception();
        }
        lock.lock();
        busy_ = false;
        changed_.notify_all();
        wake_();
    }
}

}  // namespace attn::view
