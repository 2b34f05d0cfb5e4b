#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/saturation/state.h"

namespace attn::view {

// The Saturation workspace: softmax with and without ÷√d_k. See WorkspaceInfo. It shows no document.

std::string saturation_lacks(const AppState& state);
void enter_saturation(AppState& state);
void add_saturation_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_saturation(const AppState& state);
void clear_saturation(AppState& state);
InspectorView saturation_inspector(const AppState& state);
nlohmann::ordered_json write_saturation(const AppState& state);
void read_saturation(Fields& fields, AppState& state);
bool is_saturation_animating(const AppState& state);
bool has_saturation_settled(const AppState& state);
std::string saturation_figure_name(const AppState& state);
std::vector<Shot> saturation_shots();

extern const WorkspaceInfo kSaturationWorkspace;

}  // namespace attn::view
