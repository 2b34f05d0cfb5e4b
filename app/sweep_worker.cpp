#include "app/sweep_worker.h"

#include <chrono>
#include <utility>

namespace attn {

SweepWorker::SweepWorker(std::function<void()> wake)
    : wake_(std::move(wake)), thread_([this](const std::stop_token& quit) { work(quit); }) {}

SweepWorker::~SweepWorker() {
    const std::scoped_lock lock(mutex_);
    next_.reset();
    job_.request_stop();
    thread_.request_stop();
}

void SweepWorker::want(const SaturationSettings& settings) {
    if (wanted_ == settings) return;
    wanted_ = settings;
    const std::scoped_lock lock(mutex_);
    job_.request_stop();
    next_ = settings;
    result_.reset();
    changed_.notify_one();
}

std::optional<view::Action> SweepWorker::take() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(result_, std::nullopt);
}

void SweepWorker::work(const std::stop_token& quit) {
    std::unique_lock lock(mutex_);
    while (changed_.wait(lock, quit, [this] { return next_.has_value(); })) {
        const SaturationSettings settings = *std::exchange(next_, std::nullopt);
        job_ = std::stop_source();
        const std::stop_token stop = job_.get_token();
        lock.unlock();
        view::Action result = compute(settings, stop);
        lock.lock();
        if (stop.stop_requested()) continue;
        result_ = std::move(result);
        wake_();
    }
}

view::Action SweepWorker::compute(const SaturationSettings& settings,
                                  const std::stop_token& stop) const {
    const auto start = std::chrono::steady_clock::now();
    auto sweep = saturation_sweep(settings, view::sweep_widths(), stop);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!sweep) return view::Notify{{sweep.error().sentence, view::Severity::error}};
    using Points = std::vector<SaturationPoint>;
    return view::SweepReady{settings, std::make_shared<const Points>(std::move(*sweep)),
                            elapsed.count()};
}

}  // namespace attn
