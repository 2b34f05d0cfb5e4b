#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Numerics workspace: softmax in four formats by three algorithms. See WorkspaceInfo. It needs no document.

std::string numerics_lacks(const AppState& state);
void enter_numerics(AppState& state);
void add_numerics_commands(std::vector<Command>& list, const AppState& state);
void clear_numerics(AppState& state);
InspectorView numerics_inspector(const AppState& state);
nlohmann::ordered_json write_numerics(const AppState& state);
void read_numerics(Fields& fields, AppState& state);
bool has_numerics_settled(const AppState& state);
std::vector<Shot> numerics_shots();

inline constexpr std::string_view kNumericsMouse[] = {
    "Drag over any of the three curves, or the slider: the gain that multiplies every logit.",
    "Click a bar: each step of that weight, and where it broke.",
    "Click the logits: they can be typed, also inf, -inf and nan.",
    "Point at a format: how many bits it has and how far it reaches.",
};

inline constexpr WorkspaceInfo kNumericsWorkspace{
    .id = Workspace::numerics,
    .key = "numerics",
    .title = "Numerics",
    .tip = "Why softmax subtracts the maximum: where each number format breaks.",
    .digit = Key::digit6,
    .shows_document = false,
    .lacks = numerics_lacks,
    .enter = enter_numerics,
    .add_commands = add_numerics_commands,
    .escape = [](const AppState&) { return std::optional<Action>(); },
    .clear = clear_numerics,
    .settle = [](AppState&) {},
    .forget = [](AppState&) {},
    .has_side = [](const AppState&) { return true; },
    .inspector = numerics_inspector,
    .write = write_numerics,
    .read = read_numerics,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_numerics_settled,
    .figure_name = [](const AppState&) { return std::string("numerics"); },
    .shots = numerics_shots,
    .mouse = kNumericsMouse,
};

}  // namespace attn::view
