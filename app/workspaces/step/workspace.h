#pragma once

#include "app/common/map/state.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

// The Step workspace: one stage at a time, every number explained. See WorkspaceInfo.

std::string step_lacks(const AppState& state);
void enter_step(AppState& state);
void add_step_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_step(const AppState& state);
void clear_step(AppState& state);
void settle_step(AppState& state);
void arrive_in_step(AppState& state, Stage from);
InspectorView step_inspector(const AppState& state);
nlohmann::ordered_json write_step(const AppState& state);
void read_step(Fields& fields, AppState& state);
/// The guess that stands, for a session; null: there is none.
nlohmann::ordered_json prediction_to(const AppState& state);
/// Malformed parts are complained of. A guess of a row that the session does not look at is over, as in the window.
void read_prediction(Fields& fields, AppState& state);
bool is_step_animating(const AppState& state);
bool has_step_settled(const AppState& state);
std::string step_figure_name(const AppState& state);
std::vector<Shot> step_shots();

/// Longer sides of scores are no cells side by side: Step shows them as the map that Large has.
inline constexpr Index kMostDrawn = 64;
/// What the map shows at `stage`; own: it is no stage of the map, drawn cell by cell or not at all.
MapForm map_form(const AppState& state, Stage stage);

extern const WorkspaceInfo kStepWorkspace;

}  // namespace attn::view
