#pragma once

#include "app/common/inspector.h"

namespace attn::view {

/// The selected cell's whole arithmetic: q·k with its largest terms, × factor, − logsumexp, exp.
InspectorView map_inspector(const AppState& state);

}  // namespace attn::view
