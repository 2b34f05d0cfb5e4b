#pragma once

#include <optional>

#include "app/common/action.h"
#include "app/common/opener.h"

namespace attn::view {
struct Document;
}  // namespace attn::view

namespace attn {
class Backend;
struct RunControl;
}  // namespace attn

namespace attn::view {

struct AppState;

std::optional<OpenRequest> requested_document(const AppState& state);
/// DocumentReady.
Action run(const OpenRequest& request, const Opener& open, const RunControl& control);

/// The trace of a document by a backend that has a device.
struct TraceRequest {
    const Backend* backend = nullptr;
    std::shared_ptr<const Document> document;  // null: only whether the backend can run here
    bool operator==(const TraceRequest&) const = default;
};
/// The chosen backend's trace of the present document, where that backend has a device and the trace is not there yet.
/// While the palette is open: also whether each backend with a device can run here.
std::optional<TraceRequest> requested_trace(const AppState& state);
/// TraceReady.
Action run(const TraceRequest& request, const RunControl& control);

/// "staged · float32 · 0.04 ms": who computed what is shown, and who still computes. A picture without a clock has no
/// time to say.
std::string computed_text(const AppState& state);

}  // namespace attn::view
