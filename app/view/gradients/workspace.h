#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Gradients workspace: what the loss sends back to every stage and weight matrix, scaled and not. See WorkspaceInfo.

std::string gradients_lacks(const AppState& state);
void enter_gradients(AppState& state);
void add_gradients_commands(std::vector<Command>& list, const AppState& state);
void settle_gradients(AppState& state);
void forget_gradients(AppState& state);
InspectorView gradients_inspector(const AppState& state);
nlohmann::ordered_json write_gradients(const AppState& state);
void read_gradients(Fields& fields, AppState& state);
bool has_gradients_settled(const AppState& state);
std::string gradients_figure_name(const AppState& state);
std::vector<Shot> gradients_shots();

inline constexpr std::string_view kGradientsMouse[] = {
    "Click a row of the chain: its gradient is drawn.",
    "Click a key of the arrows: what raising its score does to the others.",
    "Click a cell of the Jacobian: the panel says what raising that score does to the others.",
};

inline constexpr WorkspaceInfo kGradientsWorkspace{
    .id = Workspace::gradients,
    .key = "gradients",
    .title = "Gradients",
    .tip =
        "What the loss sends back to every stage and weight matrix, with and without ÷√d_k, and "
        "the Jacobian "
        "of any row.",
    .digit = Key::f4,
    .shows_document = true,
    .lacks = gradients_lacks,
    .enter = enter_gradients,
    .add_commands = add_gradients_commands,
    .escape = [](const AppState&) { return std::optional<Action>(); },
    .clear = [](AppState& state) { state.gradients_look.raised = 0; },
    .settle = settle_gradients,
    .forget = forget_gradients,
    .has_side = [](const AppState&) { return true; },
    .inspector = gradients_inspector,
    .write = write_gradients,
    .read = read_gradients,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_gradients_settled,
    .figure_name = gradients_figure_name,
    .shots = gradients_shots,
    .mouse = kGradientsMouse,
};

}  // namespace attn::view
