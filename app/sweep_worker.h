#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "app/view/actions.h"

namespace attn {

/// Computes the saturation curves on a thread of its own. The newest wish wins: an older one that is
/// still being computed is given up.
class SweepWorker {
  public:
    /// `wake` is called from the worker's thread when a result waits.
    explicit SweepWorker(std::function<void()> wake);
    ~SweepWorker();
    SweepWorker(const SweepWorker&) = delete;
    SweepWorker& operator=(const SweepWorker&) = delete;

    /// Asks for these curves, unless they were the last that were asked for. Never waits.
    void want(const SaturationSettings& settings);
    /// SweepReady, or Notify when the settings have no curves, once for each wish that was answered.
    std::optional<view::Action> take();

  private:
    void work(const std::stop_token& quit);
    view::Action compute(const SaturationSettings& settings, const std::stop_token& stop) const;

    std::function<void()> wake_;
    std::optional<SaturationSettings> wanted_;  // the last wish
    std::mutex mutex_;                          // of what follows
    std::condition_variable_any changed_;
    std::optional<SaturationSettings> next_;  // not begun
    std::stop_source job_;                    // of the one being computed
    std::optional<view::Action> result_;
    std::jthread thread_;  // last: started when all else is there
};

}  // namespace attn
