#include "app/common/document/requests.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/state.h"
#include "core/backend.h"
#include "core/engine.h"
#include "core/stopwatch.h"
#include "core/trace.h"

#include <fmt/format.h>

namespace attn::view {
std::optional<OpenRequest> requested_document(const AppState& state) {
    if (!state.opening) return std::nullopt;
    return *state.opening;
}

Action run(const OpenRequest& request, const Opener& open, const RunControl& control) {
    auto opened = open(request, control);
    if (!opened) return DocumentReady{description_of(request), opened.error().text(), nullptr};
    return DocumentReady{description_of(request), "",
                         std::make_shared<const Opened>(*std::move(opened))};
}

std::optional<TraceRequest> requested_trace(const AppState& state) {
    const auto& document = state.shared_document();
    const Backend* const chosen = find_backend(state.backend, state.backends);
    const bool has_trace = state.device_document == document || !stages_lack(*document).empty();
    if (chosen != nullptr && chosen->has_device() && !has_trace)
        return TraceRequest{chosen, document};
    if (!state.show_palette) return std::nullopt;
    for (const Backend* backend : state.backends)
        if (backend->has_device() && !state.device_reasons.contains(std::string(backend->name())))
            return TraceRequest{backend, nullptr};
    return std::nullopt;
}

Action run(const TraceRequest& request, const RunControl& control) {
    TraceReady ready{std::string(request.backend->name()), request.document, {}, 0.0, {}, {}};
    if (const auto reason = request.backend->unavailable()) {
        ready.unavailable = *reason;
        ready.failure = fmt::format("the backend {} cannot run here: {}", ready.backend, *reason);
        return ready;
    }
    if (!request.document) return ready;
    const Stopwatch watch;
    auto trace = attend(*request.document->inputs, request.document->spec, *request.backend,
                        all_stages(), control);
    ready.elapsed_ms = watch.ms();
    if (trace) {
        ready.trace = std::make_shared<const Trace>(*std::move(trace));
    } else {
        ready.failure = trace.error().text();
        ready.unavailable = request.backend->unavailable().value_or("");
    }
    return ready;
}

std::string computed_text(const AppState& state) {
    if (state.opening && state.opening_done > 0.0)
        return fmt::format("{}: {:.0f} %", description_of(*state.opening),
                           100.0 * state.opening_done);
    if (state.backend_used.empty()) return {};
    std::string text = state.backend_used;
    text += state.backend_used == "reference" ? " · float64" : " · float32";
    if (state.trace_ms > 0.0) text += fmt::format(" · {:.2f} ms", state.trace_ms);
    if (state.gradients_by != state.backend_used)
        text += fmt::format(" · gradients by {}", state.gradients_by);
    if (const auto request = requested_trace(state); request && request->document)
        text += fmt::format(" · {} is computing", request->backend->name());
    return text;
}

}  // namespace attn::view
