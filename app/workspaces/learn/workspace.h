#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/learn/state.h"

namespace attn::view {

// The Learn workspace: two small models that are trained side by side. See WorkspaceInfo. It needs no document.

void settle_learn(AppState& state);

extern const WorkspaceInfo kLearnWorkspace;

}  // namespace attn::view
