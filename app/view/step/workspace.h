#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Step workspace: one stage at a time, every number explained. See WorkspaceInfo.

std::string step_lacks(const AppState& state);
void enter_step(AppState& state);
void add_step_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_step(const AppState& state);
void clear_step(AppState& state);
void settle_step(AppState& state);
void forget_step(AppState& state);
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

inline constexpr std::string_view kStepMouse[] = {
    "Point at a cell: its sources light up in the operands.",
    "Click a cell: the inspector writes out its arithmetic.",
    "Double-click a number of X or W, or press Enter on it: type another one; Tab goes on to the "
    "next.",
    "Double-click a computed number: which inputs make it.",
    "The wheel over a slider or a number field: one step.",
    "Click a number in the inspector: go to the cell it came from.",
    "Click a stage on the ribbon: go there.",
    "More than 64 tokens: scores and weights are a map; the wheel zooms, dragging pans.",
};

inline constexpr WorkspaceInfo kStepWorkspace{
    .id = Workspace::step,
    .key = "step",
    .title = "Step",
    .tip = "Step through the stages of attention, every number explained.",
    .digit = Key::digit1,
    .shows_document = true,
    .lacks = step_lacks,
    .enter = enter_step,
    .add_commands = add_step_commands,
    .escape = escape_step,
    .clear = clear_step,
    .settle = settle_step,
    .forget = forget_step,
    .has_side = [](const AppState&) { return true; },
    .inspector = step_inspector,
    .write = write_step,
    .read = read_step,
    .is_animating = is_step_animating,
    .has_settled = has_step_settled,
    .figure_name = step_figure_name,
    .shots = step_shots,
    .mouse = kStepMouse,
};

}  // namespace attn::view
