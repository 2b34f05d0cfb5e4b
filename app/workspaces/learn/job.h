#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/common/request.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/training.h"

namespace attn::view {

/// The training of Learn on a thread of its own, which gives way to the window's: a request says how far, and is answered again
/// and again as it goes on. Where no thread is to be had take() trains as long as a frame leaves.
class LearnJob : public Job {
  public:
    /// `wake` is called from that thread when something can be taken.
    explicit LearnJob(std::function<void()> wake) : wake_(std::move(wake)) {}
    ~LearnJob() override;
    LearnJob(const LearnJob&) = delete;
    LearnJob& operator=(const LearnJob&) = delete;

    void update(const AppState& state) override;
    Actions take() override;
    void wait_until_idle() override;

  private:
    void start();
    void work(const std::stop_token& quit);
    void work_a_slice(std::chrono::nanoseconds slice);

    std::function<void()> wake_;
    std::optional<LearnRequest> last_;  // the caller's: what was requested last
    std::mutex mutex_;                  // of what follows
    std::condition_variable_any changed_;
    std::optional<LearnRequest> next_;
    std::stop_source current_;
    bool busy_ = false;
    std::shared_ptr<const LearnSeries> series_;  // not taken yet
    std::exception_ptr thrown_;                  // the same
    Training training_;                          // of the thread, or of take()
    std::chrono::steady_clock::time_point published_;
    std::jthread thread_;  // last: it uses all else
};

}  // namespace attn::view
