#include "app/common/gradients.h"

#include <mutex>
#include <optional>
#include <utility>

#include "core/trace.h"

namespace attn::view {

struct Gradients::Made {
    std::once_flag once;
    std::function<Result<Trace>()> compute;  // null: it is done
    Trace trace;
    std::optional<Error> fault;
};

Gradients::Gradients() : Gradients(Trace()) {}
Gradients::Gradients(Trace trace) : made_(std::make_shared<Made>()) {
    made_->trace = std::move(trace);
}
Gradients::Gradients(std::function<Result<Trace>()> compute) : made_(std::make_shared<Made>()) {
    made_->compute = std::move(compute);
}

Result<void> Gradients::compute() const {
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

const Trace& Gradients::operator*() const {
    static_cast<void>(compute());
    return made_->trace;
}

}  // namespace attn::view
