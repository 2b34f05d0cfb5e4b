#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Cost workspace: what attention of these sizes computes, moves and stores. See WorkspaceInfo. It needs no document.

void enter_cost(AppState& state);
void add_cost_commands(std::vector<Command>& list, const AppState& state);
InspectorView cost_inspector(const AppState& state);
nlohmann::ordered_json write_cost(const AppState& state);
void read_cost(Fields& fields, AppState& state);
std::vector<Shot> cost_shots();

inline constexpr std::string_view kCostMouse[] = {
    "Drag over the curves: the number of tokens T.",
    "Click a row of the table or a card under the curves: its formula with its numbers.",
    "Drag a size, or double-click it to type.",
};

inline constexpr WorkspaceInfo kCostWorkspace{
    .id = Workspace::cost,
    .key = "cost",
    .title = "Cost",
    .tip = "FLOPs, bytes and memory of attention of any size, beside what this machine has.",
    .digit = Key::digit7,
    .shows_document = false,
    .lacks = [](const AppState&) { return std::string(); },
    .enter = enter_cost,
    .add_commands = add_cost_commands,
    .escape = [](const AppState&) { return std::optional<Action>(); },
    .clear = [](AppState& state) { state.cost_look.item = CostItem::materialised; },
    .settle = [](AppState&) {},
    .forget = [](AppState&) {},
    .has_side = [](const AppState&) { return true; },
    .inspector = cost_inspector,
    .write = write_cost,
    .read = read_cost,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = [](const AppState& state) { return !state.cost_look.measures; },
    .figure_name = [](const AppState&) { return std::string("cost"); },
    .shots = cost_shots,
    .mouse = kCostMouse,
};

}  // namespace attn::view
