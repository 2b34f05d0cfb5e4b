#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// The Heads workspace: all heads of all layers, what each does, and two side by side. See WorkspaceInfo.

std::string heads_lacks(const AppState& state);
InspectorView heads_inspector(const AppState& state);

extern const WorkspaceInfo kHeadsWorkspace;

}  // namespace attn::view
