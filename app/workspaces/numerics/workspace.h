#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/numerics/state.h"

namespace attn::view {

// The Numerics workspace: softmax in four formats by three algorithms. See WorkspaceInfo. It needs no document.

std::string numerics_lacks(const AppState& state);
void enter_numerics(AppState& state);
void add_numerics_commands(std::vector<Command>& list, const AppState& state);
void clear_numerics(AppState& state);
InspectorView numerics_inspector(const AppState& state);
nlohmann::ordered_json write_numerics(const AppState& state);
void read_numerics(Fields& fields, AppState& state);
bool has_numerics_settled(const AppState& state);
std::vector<Shot> numerics_shots();

extern const WorkspaceInfo kNumericsWorkspace;

}  // namespace attn::view
