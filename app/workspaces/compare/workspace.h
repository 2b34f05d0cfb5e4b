#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/compare/state.h"

namespace attn::view {

// The Compare workspace: what was pinned beside the present, what differs and by how much, and what would give a weight
// another value. See WorkspaceInfo.

std::string compare_lacks(const AppState& state);
void enter_compare(AppState& state);
void add_compare_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_compare(const AppState& state);
void clear_compare(AppState& state);
void settle_compare(AppState& state);
void forget_compare(AppState& state);
InspectorView compare_inspector(const AppState& state);
nlohmann::ordered_json write_compare(const AppState& state);
void read_compare(Fields& fields, AppState& state);
std::string compare_figure_name(const AppState& state);
std::vector<Shot> compare_shots();

extern const WorkspaceInfo kCompareWorkspace;

}  // namespace attn::view
