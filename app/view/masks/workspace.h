#pragma once

#include "app/view/workspaces.h"

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

inline constexpr std::string_view kMasksMouse[] = {
    "Click a pair of the mask: it is forbidden, or allowed again.",
    "Drag over the mask: every pair becomes what the first one became; with Shift a rectangle "
    "does.",
    "Click a pair of the other matrices, or right-click one of the mask: the inspector explains "
    "it.",
    "Point at a pair: which rules allow and which forbid it.",
    "Conventions: click one to compare it, Shift+click one to compare with it.",
};

inline constexpr WorkspaceInfo kMasksWorkspace{
    .id = Workspace::masks,
    .key = "masks",
    .title = "Masks",
    .tip = "Which pairs may attend: rules, paint, and what other conventions make of them.",
    .digit = Key::digit4,
    .shows_document = true,
    .lacks = masks_lacks,
    .enter = enter_masks,
    .add_commands = add_masks_commands,
    .escape = escape_masks,
    .clear = clear_masks,
    .settle = settle_masks,
    .forget = forget_masks,
    .has_side = [](const AppState& state) { return masks_lacks(state).empty(); },
    .inspector = masks_inspector,
    .write = write_masks,
    .read = read_masks,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = [](const AppState&) { return true; },
    .figure_name = masks_figure_name,
    .shots = masks_shots,
    .mouse = kMasksMouse,
};

}  // namespace attn::view
