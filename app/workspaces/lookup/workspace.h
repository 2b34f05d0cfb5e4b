#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/lookup/state.h"

namespace attn::view {

// The Lookup workspace: attention as a soft dictionary. See WorkspaceInfo. Memory and Capacity need no document.

InspectorView lookup_inspector(const AppState& state);

extern const WorkspaceInfo kLookupWorkspace;

}  // namespace attn::view
