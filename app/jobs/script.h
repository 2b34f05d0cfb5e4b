#pragma once

#include <deque>
#include <functional>

#include "app/jobs/jobs.h"

namespace attn::jobs {

/// What the start and a journal ask for beside jobs that run. Some lines stand for an answer: the script goes on once it
/// came, or at once where nothing that is requested by then will bring it.
class Script {
  public:
    void add(const view::Actions& actions) {
        lines_.insert(lines_.end(), actions.begin(), actions.end());
    }
    bool done() const { return lines_.empty(); }
    /// Keeps an answer that a later line may stand for; false: it is to be carried out now.
    bool keep(const view::Action& answer);
    /// Goes on up to an answer that has not come yet. `dispatch` carries an action out.
    void play(view::AppState& state, Jobs& jobs,
              const std::function<void(const view::Action&)>& dispatch);

  private:
    std::deque<view::Action> lines_;
    std::deque<view::Action> arrived_;  // answers that it comes to later
};

}  // namespace attn::jobs
