#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// The Heads workspace: all heads of all layers, what each does, and two side by side. See WorkspaceInfo.

/// Why not all heads can be computed, without a full stop; "": they can.
std::string heads_fault(const AppState& state);
std::string heads_lacks(const AppState& state);
void enter_heads(AppState& state);
void add_heads_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_heads(const AppState& state);
void clear_heads(AppState& state);
void settle_heads(AppState& state);
void forget_heads(AppState& state);
InspectorView heads_inspector(const AppState& state);
nlohmann::ordered_json write_heads(const AppState& state);
void read_heads(Fields& fields, AppState& state);
bool has_heads_settled(const AppState& state);
std::string heads_figure_name(const AppState& state);
std::vector<Shot> heads_shots();

extern const WorkspaceInfo kHeadsWorkspace;

}  // namespace attn::view
