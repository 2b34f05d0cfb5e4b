#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/cost/state.h"

namespace attn::view {

// The Cost workspace: what attention of these sizes computes, moves and stores. See WorkspaceInfo. It needs no document.

void enter_cost(AppState& state);
void add_cost_commands(std::vector<Command>& list, const AppState& state);
InspectorView cost_inspector(const AppState& state);
nlohmann::ordered_json write_cost(const AppState& state);
void read_cost(Fields& fields, AppState& state);
std::vector<Shot> cost_shots();

extern const WorkspaceInfo kCostWorkspace;

}  // namespace attn::view
