#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/compare/state.h"

namespace attn::view {

// The Compare workspace: what was pinned beside the present, what differs and by how much, and what would give a weight
// another value. See WorkspaceInfo.

std::string compare_lacks(const AppState& state);
void settle_compare(AppState& state);
InspectorView compare_inspector(const AppState& state);
/// The line "pins" of a session: what is pinned, each with its own document; "" where nothing is.
std::string write_pins(const AppState& state, const std::filesystem::path& folder);
void read_pins(const SessionReader& session);

extern const WorkspaceInfo kCompareWorkspace;

}  // namespace attn::view
