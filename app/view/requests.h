#pragma once

#include <optional>
#include <stop_token>

#include "app/view/actions.h"

namespace attn::view {

// A "wish" is something that the screen wants and that takes too long for the window's thread. wanted_…() says what is
// wished for now; a worker answers with an action, which apply() takes; then nothing is wished for any more.

/// The trace of a document by a backend that has a device.
struct TraceWish {
    const Backend* backend = nullptr;
    std::shared_ptr<const Document> document;  // null: only whether the backend can run here
    bool operator==(const TraceWish&) const = default;
};
/// The chosen backend's trace of the present document, where that backend has a device and the trace is not there yet.
/// While the palette is open: also whether each backend with a device can run here.
std::optional<TraceWish> wanted_trace(const AppState& state);

/// SweepReady, or Notify when the settings have no curves.
Action answer(const SaturationSettings& wish, const std::stop_token& stop);
/// TraceReady.
Action answer(const TraceWish& wish, const std::stop_token& stop);

/// Answers every wish on this thread: for whoever has no window to keep alive.
void fulfil(AppState& state);

/// "staged · float32 · 0.04 ms": who computed what is shown, and who still computes. A picture without a clock has no
/// time to tell.
std::string computed_words(const AppState& state);

}  // namespace attn::view
