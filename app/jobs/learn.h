#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>

#include "app/jobs/job.h"
#include "app/view/learn/requests.h"
#include "app/view/learn/training.h"

namespace attn::jobs {

/// The training of Learn on a thread of its own, which gives way to the window's: a request says how far, and is answered again
/// and again as it goes on. Where no thread is to be had nothing is trained, and the person is told.
class Learn : public Job {
  public:
    /// `wake` is called from that thread when something can be taken.
    explicit Learn(std::function<void()> wake) : wake_(std::move(wake)) {}
    ~Learn() override;
    Learn(const Learn&) = delete;
    Learn& operator=(const Learn&) = delete;

    void update(const view::AppState& state) override;
    view::Actions take() override;
    void settle() override;

  private:
    void start();
    void work(const std::stop_token& quit);

    std::function<void()> wake_;
    std::optional<view::LearnRequest> last_;  // the caller's: what was requested last
    std::mutex mutex_;                        // of what follows
    std::condition_variable_any changed_;
    std::optional<view::LearnRequest> next_;
    std::stop_source current_;
    bool busy_ = false;
    std::shared_ptr<const view::LearnSeries> series_;  // not taken yet
    std::string fault_;
    std::jthread thread_;  // last: it uses all else
};

}  // namespace attn::jobs
