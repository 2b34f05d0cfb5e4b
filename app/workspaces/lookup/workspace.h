#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/lookup/state.h"

namespace attn::view {

// The Lookup workspace: attention as a soft dictionary. See WorkspaceInfo. Memory and Capacity need no document.

void enter_lookup(AppState& state);
void add_lookup_commands(std::vector<Command>& list, const AppState& state);
void clear_lookup(AppState& state);
void settle_lookup(AppState& state);
void forget_lookup(AppState& state);
InspectorView lookup_inspector(const AppState& state);
nlohmann::ordered_json write_lookup(const AppState& state);
void read_lookup(Fields& fields, AppState& state);
bool has_lookup_settled(const AppState& state);
std::string lookup_figure_name(const AppState& state);
std::vector<Shot> lookup_shots();

extern const WorkspaceInfo kLookupWorkspace;

}  // namespace attn::view
