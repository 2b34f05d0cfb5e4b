#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Compare workspace: what was pinned beside the present, what differs and by how much, and what would give a weight
// another value. See WorkspaceInfo.

std::string compare_lacks(const AppState& state);
void enter_compare(AppState& state);
void add_compare_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_compare(const AppState& state);
void clear_compare(AppState& state);
void settle_compare(AppState& state);
void forget_compare(AppState& state);
InspectorView compare_inspector(const AppState& state);
nlohmann::ordered_json write_compare(const AppState& state);
void read_compare(Fields& fields, AppState& state);
std::string compare_figure_name(const AppState& state);
std::vector<Shot> compare_shots();

inline constexpr std::string_view kCompareMouse[] = {
    "Click a cell: the inspector says what it is in A and in B.",
    "Drag the target weight: the smallest changes that give it are computed.",
    "Point at a cell: the same one is framed in every matrix.",
};

inline constexpr WorkspaceInfo kCompareWorkspace{
    .id = Workspace::compare,
    .key = "compare",
    .title = "Compare",
    .tip = "What was pinned beside the present: what differs, and by how much.",
    .digit = Key::f3,
    .shows_document = true,
    .lacks = compare_lacks,
    .enter = enter_compare,
    .add_commands = add_compare_commands,
    .escape = escape_compare,
    .clear = clear_compare,
    .settle = settle_compare,
    .forget = forget_compare,
    .has_side = [](const AppState& state) { return compare_lacks(state).empty(); },
    .inspector = compare_inspector,
    .write = write_compare,
    .read = read_compare,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = [](const AppState&) { return true; },
    .figure_name = compare_figure_name,
    .shots = compare_shots,
    .mouse = kCompareMouse,
};

}  // namespace attn::view
