#include "app/view/requests.h"

#include <chrono>

#include <fmt/format.h>

#include "core/engine.h"

namespace attn::view {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

std::optional<TraceWish> wanted_trace(const AppState& state) {
    const auto& document = state.history[state.now].document;
    const Backend* const chosen = find_backend(state.backend, state.backends);
    const bool has_trace = state.device_document == document || document->tokens.empty();
    if (chosen != nullptr && chosen->has_device() && !has_trace) return TraceWish{chosen, document};
    if (!state.show_palette) return std::nullopt;
    for (const Backend* backend : state.backends)
        if (backend->has_device() && !state.device_reasons.contains(std::string(backend->name())))
            return TraceWish{backend, nullptr};
    return std::nullopt;
}

Action answer(const SaturationSettings& wish, const std::stop_token& stop) {
    const auto start = Clock::now();
    auto sweep = saturation_sweep(wish, sweep_widths(), stop);
    if (!sweep) return Notify{{sweep.error().sentence, Severity::error}};
    using Points = std::vector<SaturationPoint>;
    return SweepReady{wish, std::make_shared<const Points>(*std::move(sweep)), ms_since(start)};
}

Action answer(const TraceWish& wish, const std::stop_token& stop) {
    TraceReady ready{std::string(wish.backend->name()), wish.document, {}, 0.0, {}, {}};
    if (const auto reason = wish.backend->unavailable()) {
        ready.unavailable = *reason;
        ready.failure = fmt::format("the backend {} cannot run here: {}", ready.backend, *reason);
        return ready;
    }
    if (!wish.document) return ready;
    const auto start = Clock::now();
    auto trace = attend(*wish.document->inputs, wish.document->spec, *wish.backend, all_stages(),
                        {stop, {}});
    ready.elapsed_ms = ms_since(start);
    if (trace) {
        ready.trace = std::make_shared<const Trace>(*std::move(trace));
    } else {
        ready.failure = trace.error().sentence;
        ready.unavailable = wish.backend->unavailable().value_or("");
    }
    return ready;
}

void fulfil(AppState& state) {
    while (const auto wish = wanted_trace(state)) view::apply(state, answer(*wish, {}));
    if (const auto wish = wanted_sweep(state)) view::apply(state, answer(*wish, {}));
}

std::string computed_words(const AppState& state) {
    std::string words = state.backend_used;
    words += state.backend_used == "reference" ? " · float64" : " · float32";
    if (state.trace_ms > 0.0) words += fmt::format(" · {:.2f} ms", state.trace_ms);
    if (state.gradients_by != state.backend_used)
        words += fmt::format(" · gradients by {}", state.gradients_by);
    if (const auto wish = wanted_trace(state); wish && wish->document)
        words += fmt::format(" · {} is computing", wish->backend->name());
    return words;
}

}  // namespace attn::view
