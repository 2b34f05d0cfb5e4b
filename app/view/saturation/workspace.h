#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Saturation workspace: softmax with and without ÷√d_k. See WorkspaceInfo. It shows no document.

std::string saturation_lacks(const AppState& state);
void enter_saturation(AppState& state);
void add_saturation_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_saturation(const AppState& state);
void clear_saturation(AppState& state);
InspectorView saturation_inspector(const AppState& state);
nlohmann::ordered_json write_saturation(const AppState& state);
void read_saturation(Fields& fields, AppState& state);
bool is_saturation_animating(const AppState& state);
bool has_saturation_settled(const AppState& state);
std::string saturation_figure_name(const AppState& state);
std::vector<Shot> saturation_shots();

inline constexpr std::string_view kSaturationMouse[] = {
    "Drag the handle, or over any of the curves: d_k goes to the next power of two.",
    "Click a number under the large plot: the gradient is compared with that d_k.",
    "Click the logits, the keys, the draws or the seed: they can be typed.",
    "Point at a bar: its score and weight.",
    "Point at a curve or a number: what it is.",
};

inline constexpr WorkspaceInfo kSaturationWorkspace{
    .id = Workspace::saturation,
    .key = "saturation",
    .title = "Saturation",
    .tip = "Why scores are divided by √d_k: softmax saturates.",
    .digit = Key::digit2,
    .shows_document = false,
    .lacks = saturation_lacks,
    .enter = enter_saturation,
    .add_commands = add_saturation_commands,
    .escape = escape_saturation,
    .clear = clear_saturation,
    .settle = [](AppState&) {},
    .forget = [](AppState&) {},
    .has_side = [](const AppState&) { return false; },
    .inspector = saturation_inspector,
    .write = write_saturation,
    .read = read_saturation,
    .is_animating = is_saturation_animating,
    .has_settled = has_saturation_settled,
    .figure_name = saturation_figure_name,
    .shots = saturation_shots,
    .mouse = kSaturationMouse,
};

}  // namespace attn::view
