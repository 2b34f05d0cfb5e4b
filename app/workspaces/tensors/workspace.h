#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/tensors/state.h"

namespace attn::view {

// The Tensors workspace: the arrays of what is open, and what each is read as. See WorkspaceInfo.

void enter_tensors(AppState& state);
void add_tensors_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_tensors(const AppState& state);
void clear_tensors(AppState& state);
void settle_tensors(AppState& state);
void forget_tensors(AppState& state);
InspectorView tensors_inspector(const AppState& state);
nlohmann::ordered_json write_tensors(const AppState& state);
void read_tensors_look(Fields& fields, AppState& state);
bool has_tensors_settled(const AppState& state);
std::vector<Shot> tensors_shots();

extern const WorkspaceInfo kTensorsWorkspace;

}  // namespace attn::view
