#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/learn/state.h"

namespace attn::view {

// The Learn workspace: two small models that are trained side by side. See WorkspaceInfo. It needs no document.

void enter_learn(AppState& state);
void add_learn_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_learn(const AppState& state);
void clear_learn(AppState& state);
void settle_learn(AppState& state);
InspectorView learn_inspector(const AppState& state);
nlohmann::ordered_json write_learn(const AppState& state);
void read_learn(Fields& fields, AppState& state);
bool has_learn_settled(const AppState& state);
std::string learn_figure_name(const AppState& state);
std::vector<Shot> learn_shots();

extern const WorkspaceInfo kLearnWorkspace;

}  // namespace attn::view
