#pragma once

#include "app/common/map/state.h"
#include "app/common/workspace.h"

namespace attn::view {

// The Large workspace: a map of all the weights, none of them stored. See WorkspaceInfo.

std::string large_lacks(const AppState& state);
void enter_large(AppState& state);
void add_large_commands(std::vector<Command>& list, const AppState& state);
/// Those of the map alone, where Step shows it.
void add_map_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_large(const AppState& state);
void clear_large(AppState& state);
void settle_large(AppState& state);
void forget_large(AppState& state);
InspectorView large_inspector(const AppState& state);
/// The map stands for another stage from now on.
void show_form(AppState& state, MapForm form);
/// A map is there: the small map, the cells and the inspector stand beside it.
bool has_large_side(const AppState& state);
nlohmann::ordered_json write_large(const AppState& state);
void read_large(Fields& fields, AppState& state);
bool is_large_animating(const AppState& state);
bool has_large_settled(const AppState& state);
std::string large_figure_name(const AppState& state);
std::vector<Shot> large_shots();

/// The head that all workspaces show, as the map counts it.
large::Head shown_head(const AppState& state);
/// What moves the map to `camera`: FitMap where that shows the whole matrix.
Action moved_map(const MapLook& look, const MapCamera& camera);

extern const WorkspaceInfo kLargeWorkspace;

}  // namespace attn::view
