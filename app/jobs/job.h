#pragma once

#include "app/view/actions.h"

namespace attn::jobs {

/// One kind of request (app/view/requests.h), answered beside the window.
class Job {
  public:
    virtual ~Job() = default;
    /// What `state` requests now. A request that is new begins, one that is not made any more is cancelled: the newest
    /// wins. Never waits.
    virtual void update(const view::AppState& state) = 0;
    /// What came since the last time, oldest first.
    virtual view::Actions take() = 0;
    /// Waits until the last request is answered in full; take() brings the answer.
    virtual void settle() = 0;
};

}  // namespace attn::jobs
