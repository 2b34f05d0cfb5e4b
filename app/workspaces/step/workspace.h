#pragma once

#include "app/common/map/state.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/state.h"

namespace attn::view {

// The Step workspace: one stage at a time, every number explained. See WorkspaceInfo.

std::string step_lacks(const AppState& state);
InspectorView step_inspector(const AppState& state);
/// The guess that stands, for a session. A guess of a row that the session does not look at is over, as in the window.
std::optional<Prediction> kept_prediction(const AppState& state);
/// Ends the typing into a cell where the action is no part of it: takes what was typed; text that is no number, or the
/// same one, is dropped.
void end_typing(AppState& state, const Action& action);

/// What the map shows at `stage`; own: it is no stage of the map, drawn cell by cell or not at all.
MapForm map_form(const AppState& state, Stage stage);

}  // namespace attn::view
