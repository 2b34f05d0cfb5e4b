#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Learn workspace: two small models that are trained side by side. See WorkspaceInfo. It needs no document.

void enter_learn(AppState& state);
void add_learn_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_learn(const AppState& state);
void clear_learn(AppState& state);
void settle_learn(AppState& state);
InspectorView learn_inspector(const AppState& state);
nlohmann::ordered_json write_learn(const AppState& state);
void read_learn(Fields& fields, AppState& state);
bool has_learn_settled(const AppState& state);
std::string learn_figure_name(const AppState& state);
std::vector<Shot> learn_shots();

inline constexpr std::string_view kLearnMouse[] = {
    "Drag over a plot: the step that is looked at, in all plots and maps.",
    "Click a cell of a map: its row is compared at the right.",
};

inline constexpr WorkspaceInfo kLearnWorkspace{
    .id = Workspace::learn,
    .key = "learn",
    .title = "Learn",
    .tip =
        "Two small transformers learn a task side by side, with and without ÷√d_k or any other "
        "setting.",
    .digit = Key::zero,
    .shows_document = false,
    .lacks = [](const AppState&) { return std::string(); },
    .enter = enter_learn,
    .add_commands = add_learn_commands,
    .escape = escape_learn,
    .clear = clear_learn,
    .settle = settle_learn,
    .forget = [](AppState&) {},
    .has_side = [](const AppState&) { return true; },
    .inspector = learn_inspector,
    .write = write_learn,
    .read = read_learn,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_learn_settled,
    .figure_name = learn_figure_name,
    .shots = learn_shots,
    .mouse = kLearnMouse,
};

}  // namespace attn::view
