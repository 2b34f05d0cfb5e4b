#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "app/common/request.h"

namespace attn::view {
struct AppState;
}  // namespace attn::view

namespace attn::jobs {

/// Every job of the program, one row each in the .cpp: the window and `render` update them after each action and carry
/// out what they take.
class Jobs {
  public:
    /// `wake` is called from other threads when something can be taken.
    Jobs(view::Opener open, std::function<void()> wake);

    void update(const view::AppState& state);
    view::Actions take();
    /// Waits until every request was answered in full.
    void wait_until_idle();

  private:
    std::vector<std::unique_ptr<view::Job>> jobs_;
};

/// Answers all that is requested.
void answer(view::AppState& state, Jobs& jobs);

}  // namespace attn::jobs
