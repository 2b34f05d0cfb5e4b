#pragma once

#include <functional>
#include <memory>

#include "core/forward.h"
#include "core/result.h"

namespace attn::view {

/// ∂L/∂ of every stage and parameter, computed at the first request and kept from then on: those of W are as large
/// as W in float32. Copies are of the same. Any thread.
class Gradients {
  public:
    Gradients();
    /// They are there already.
    explicit Gradients(Trace trace);
    explicit Gradients(std::function<Result<Trace>()> compute);

    /// Where that is not possible every tensor stays empty.
    Result<void> compute() const;
    const Trace& operator*() const;
    const Trace* operator->() const { return &**this; }
    std::shared_ptr<const Trace> trace() const { return {made_, &**this}; }

  private:
    struct Made;
    std::shared_ptr<Made> made_;
};

}  // namespace attn::view
