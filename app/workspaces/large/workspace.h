#pragma once

#include "app/common/workspace.h"

namespace attn::view {

// The Large workspace: a map of all the weights, none of them stored. See WorkspaceInfo.

extern const WorkspaceInfo kLargeWorkspace;

}  // namespace attn::view
