#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/gradients/state.h"

namespace attn::view {

// The Gradients workspace: what the loss sends back to every stage and weight matrix, scaled and not. See WorkspaceInfo.

std::string gradients_lacks(const AppState& state);
void enter_gradients(AppState& state);
void add_gradients_commands(std::vector<Command>& list, const AppState& state);
void settle_gradients(AppState& state);
void forget_gradients(AppState& state);
InspectorView gradients_inspector(const AppState& state);
nlohmann::ordered_json write_gradients(const AppState& state);
void read_gradients(Fields& fields, AppState& state);
bool has_gradients_settled(const AppState& state);
std::string gradients_figure_name(const AppState& state);
std::vector<Shot> gradients_shots();

extern const WorkspaceInfo kGradientsWorkspace;

}  // namespace attn::view
