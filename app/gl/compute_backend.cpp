#include "app/gl/compute_backend.h"

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include <fmt/format.h>

#include "app/gl/compute_call.h"
#include "core/memory.h"
#include "core/scores/score.h"

namespace attn::gl {

/// The thread that owns the context. Jobs run there one after another.
class ComputeBackend::Worker {
  public:
    /// A job's view of OpenGL: a device, or why there is none. A job may put a reason there.
    using Opened = Result<std::unique_ptr<Device>>;

    explicit Worker(double dispatch_ms) : dispatch_ms_(dispatch_ms) {}

    /// job(opened) on the thread, and waits for it.
    template <class Job>
    auto run(const Job& job) {
        std::packaged_task<std::invoke_result_t<Job, Opened&>(Opened&)> task(job);
        auto done = task.get_future();
        {
            const std::lock_guard lock(mutex_);
            if (!thread_.joinable())
                thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
            jobs_.push_back([&task](Opened& opened) { task(opened); });
        }
        arrived_.notify_one();
        return done.get();
    }

  private:
    void work(const std::stop_token& stop) {
        Opened opened = [this]() -> Opened {
            try {
                return Device::open(dispatch_ms_);
            } catch (...) {
                return tl::unexpected(error_of(std::current_exception()));
            }
        }();
        while (true) {
            std::function<void(Opened&)> job;
            {
                std::unique_lock lock(mutex_);
                if (!arrived_.wait(lock, stop, [this] { return !jobs_.empty(); })) return;
                job = std::move(jobs_.front());
                jobs_.pop_front();
            }
            job(opened);
        }
    }

    double dispatch_ms_;
    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::deque<std::function<void(Opened&)>> jobs_;
    std::jthread thread_;  // last: it ends before what it uses
};

ComputeBackend::ComputeBackend(double dispatch_ms)
    : worker_(std::make_unique<Worker>(dispatch_ms)) {}
ComputeBackend::~ComputeBackend() = default;

std::optional<std::string> ComputeBackend::unavailable() const {
    return worker_->run([](Worker::Opened& opened) -> std::optional<std::string> {
        if (opened) return std::nullopt;
        return opened.error().text();
    });
}

std::string ComputeBackend::renderer() const {
    return worker_->run(
        [](Worker::Opened& opened) { return opened ? (*opened)->renderer() : std::string(); });
}

std::optional<std::string> ComputeBackend::supports(const Call& call) const {
    constexpr Index kMostOffset = Index{1} << 28;
    const Score score = call.spec().score;
    const std::string_view made_of_rows = is_dot(score) ? info(score).key : "";
    std::string_view missing;
    if (const auto found =
            features(call.spec(), call.inputs().params,
                     {"query_offset", "qk_norm", "rope", "scale q_and_k", made_of_rows});
        !found.empty())
        missing = found.front().key;
    else if (call.size().query_offset > kMostOffset)
        missing = "query_offset above 2^28";
    if (!missing.empty())
        return fmt::format("its shaders have no {}; expected backend staged, fused or reference",
                           missing);
    return std::nullopt;
}

Result<Trace> ComputeBackend::forward(const Call& call, StageSet keep,
                                      const RunControl& control) const {
    if (auto fits = check_fits_in_memory(call.size(), call.spec(), keep, sizeof(float)); !fits)
        return tl::unexpected(fits.error());
    return worker_->run([&](Worker::Opened& opened) -> Result<Trace> {
        if (!opened) return tl::unexpected(opened.error());
        try {
            return compute_forward(**opened, call, keep, control);
        } catch (const ComputeFailure& failure) {
            if (failure.fatal) opened = tl::unexpected(failure.error);
            return tl::unexpected(failure.error);
        }
    });
}

Result<Trace> ComputeBackend::backward(const Call&, const Trace&, const Upstream&,
                                       const RunControl&) const {
    return no_backward(*this, backends());
}

}  // namespace attn::gl
