#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Tensors workspace: the arrays of what is open, and what each is read as. See WorkspaceInfo.

void enter_tensors(AppState& state);
void add_tensors_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_tensors(const AppState& state);
void clear_tensors(AppState& state);
void settle_tensors(AppState& state);
void forget_tensors(AppState& state);
InspectorView tensors_inspector(const AppState& state);
nlohmann::ordered_json write_tensors(const AppState& state);
void read_tensors_look(Fields& fields, AppState& state);
bool has_tensors_settled(const AppState& state);
std::vector<Shot> tensors_shots();

inline constexpr std::string_view kTensorsMouse[] = {
    "Click a row: that array is measured and drawn at the right.",
    "Click a column's title: the rows in its order; again: the other way round.",
};

inline constexpr WorkspaceInfo kTensorsWorkspace{
    .id = Workspace::tensors,
    .key = "tensors",
    .title = "Tensors",
    .tip = "Every array of what is open: shape, numbers, and what it is read as.",
    .digit = Key::digit9,
    .shows_document = true,
    .lacks = [](const AppState&) { return std::string(); },
    .enter = enter_tensors,
    .add_commands = add_tensors_commands,
    .escape = escape_tensors,
    .clear = clear_tensors,
    .settle = settle_tensors,
    .forget = forget_tensors,
    .has_side = [](const AppState&) { return false; },
    .inspector = tensors_inspector,
    .write = write_tensors,
    .read = read_tensors_look,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_tensors_settled,
    .figure_name = [](const AppState&) { return std::string("tensors"); },
    .shots = tensors_shots,
    .mouse = kTensorsMouse,
};

}  // namespace attn::view
