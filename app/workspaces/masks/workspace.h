#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

// The Masks workspace: which pairs may attend, by rules and by paint, and what other conventions make of the same mask.
// See WorkspaceInfo.

std::string masks_lacks(const AppState& state);
InspectorView masks_inspector(const AppState& state);
/// What can be done in the tab that is shown.
std::string masks_entering_words(const AppState& state);

extern const WorkspaceInfo kMasksWorkspace;

}  // namespace attn::view
