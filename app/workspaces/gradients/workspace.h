#pragma once

#include "app/common/workspace.h"

namespace attn::view {

// The Gradients workspace: what the loss sends back to every stage and weight matrix, scaled and not. See WorkspaceInfo.

std::string gradients_lacks(const AppState& state);

}  // namespace attn::view
