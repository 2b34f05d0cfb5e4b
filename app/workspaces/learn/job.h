#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "app/common/latest_worker.h"
#include "app/common/request.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/training.h"

namespace attn::view {

/// The training of Learn on a thread of its own, which gives way to the window's: a request has the number of steps, and is answered again
/// and again as it goes on. Where no thread is to be had take() trains as long as a frame leaves.
class LearnJob : public Job {
  public:
    /// `wake` is called from that thread when something can be taken.
    explicit LearnJob(std::function<void()> wake) : wake_(std::move(wake)) {}

    void update(const AppState& state) override;
    Actions take() override;
    void wait_until_idle() override;

  private:
    void train(const LearnRequest& request, const std::stop_token& stop);
    void train_a_slice();
    template <class Keep>
    void publish(const std::stop_token& stop, const Keep& keep);

    std::function<void()> wake_;
    std::optional<LearnRequest> last_;           // the caller's: what was requested last
    std::shared_ptr<const LearnSeries> series_;  // not taken yet; under the worker's lock
    std::exception_ptr thrown_;                  // the same
    Training training_;                          // of the thread, or of take()
    bool trains_here_ = false;                   // without a thread: there is more to train
    std::chrono::steady_clock::time_point published_;
    LatestWorker<LearnRequest> worker_{
        [this](const LearnRequest& request, const std::stop_token& stop) { train(request, stop); }};
};

}  // namespace attn::view
