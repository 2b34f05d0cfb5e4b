#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/verify/state.h"

namespace attn::view {

struct OpenCheckedInStep;

// The Verify workspace: results of a kernel against an exact reference, where they differ, and which fault explains it.
// See WorkspaceInfo.

std::string verify_lacks(const AppState& state);
/// Opens the number that is looked at; nullopt: it is no cell of what is open.
std::optional<OpenCheckedInStep> checked_in_step(const AppState& state);
void enter_verify(AppState& state);
void add_verify_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_verify(const AppState& state);
void forget_verify(AppState& state);
InspectorView verify_inspector(const AppState& state);
nlohmann::ordered_json write_verify(const AppState& state);
void read_verify(Fields& fields, AppState& state);
bool has_verify_settled(const AppState& state);
std::string verify_figure_name(const AppState& state);
std::vector<Shot> verify_shots();

extern const WorkspaceInfo kVerifyWorkspace;

}  // namespace attn::view
