#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/kinds/state.h"
#include "core/large/planted.h"

namespace attn::view {

// The Kinds workspace: two kinds of attention on the same tokens. See WorkspaceInfo.

std::string kinds_lacks(const AppState& state);
void enter_kinds(AppState& state);
InspectorView kinds_inspector(const AppState& state);

/// The pair that is explained: the selected one, else the one that differs most.
large::Cell shown_pair(const AppState& state);
/// Key of the pair of kinds that A and B are, in kinds_presets(); its count where they are none.
std::size_t present_pair(const KindsControls& controls);

extern const WorkspaceInfo kKindsWorkspace;

}  // namespace attn::view
