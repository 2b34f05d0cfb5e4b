#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/result.h"
#include "core/trace.h"

namespace attn::view {

/// ∂L/∂ of every stage and parameter, computed at the first request and kept from then on: those of W are as large
/// as W in float32. Copies are of the same. Any thread.
class Gradients {
  public:
    Gradients() : Gradients(Trace()) {}
    /// They are there already.
    explicit Gradients(Trace trace) : made_(std::make_shared<Made>()) {
        made_->trace = std::move(trace);
    }
    explicit Gradients(std::function<Result<Trace>()> compute) : made_(std::make_shared<Made>()) {
        made_->compute = std::move(compute);
    }

    /// Where that is not possible every tensor stays empty.
    Result<void> compute() const {
        std::call_once(made_->once, [&made = *made_] {
            if (!made.compute) return;
            auto trace = made.compute();
            made.compute = nullptr;
            if (trace)
                made.trace = *std::move(trace);
            else
                made.fault = std::move(trace.error());
        });
        if (made_->fault) return tl::unexpected(*made_->fault);
        return {};
    }
    const Trace& operator*() const {
        static_cast<void>(compute());
        return made_->trace;
    }
    const Trace* operator->() const { return &**this; }
    std::shared_ptr<const Trace> trace() const { return {made_, &**this}; }

  private:
    struct Made {
        std::once_flag once;
        std::function<Result<Trace>()> compute;  // null: it is done
        Trace trace;
        std::optional<Error> fault;
    };
    std::shared_ptr<Made> made_;
};

}  // namespace attn::view
