#pragma once

#include "app/common/workspace.h"
#include "app/workspaces/masks/state.h"

namespace attn::view {

// The Masks workspace: which pairs may attend, by rules and by paint, and what other conventions make of the same mask.
// See WorkspaceInfo.

/// Longer sequences are no cells that a hand can paint.
inline constexpr Index kMostMaskTokens = 128;

std::string masks_lacks(const AppState& state);
void enter_masks(AppState& state);
void add_masks_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_masks(const AppState& state);
void clear_masks(AppState& state);
void settle_masks(AppState& state);
void forget_masks(AppState& state);
InspectorView masks_inspector(const AppState& state);
nlohmann::ordered_json write_masks(const AppState& state);
void read_masks(Fields& fields, AppState& state);
std::string masks_figure_name(const AppState& state);
std::vector<Shot> masks_shots();
/// What can be done in the tab that is shown.
std::string masks_entering_words(const AppState& state);

extern const WorkspaceInfo kMasksWorkspace;

}  // namespace attn::view
