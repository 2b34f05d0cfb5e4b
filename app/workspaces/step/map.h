#pragma once

#include "app/common/workspace.h"

namespace attn::view {

// Where Step shows the map that Large has: scores and weights of more than kMostDrawn tokens.

/// After every action: the map stands for the stage that Step shows, or for Large's own choice. What Step has selected
/// is selected on the map; where a stage is known through the map alone, a cell is selected from the start.
void follow_map(AppState& state);

/// Step has no numbers of its stage, the map has: the inspector is the map's.
bool is_map_alone(const AppState& state);

// Step's inspector and commands, with the map's where it is shown.
InspectorView inspector_of_step(const AppState& state);
void add_commands_of_step(std::vector<Command>& list, const AppState& state);

}  // namespace attn::view
