#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Heads workspace: all heads of all layers, what each does, and two side by side. See WorkspaceInfo.

/// Why not all heads can be computed, without a full stop; "": they can.
std::string heads_fault(const AppState& state);
std::string heads_lacks(const AppState& state);
void enter_heads(AppState& state);
void add_heads_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_heads(const AppState& state);
void clear_heads(AppState& state);
void settle_heads(AppState& state);
void forget_heads(AppState& state);
InspectorView heads_inspector(const AppState& state);
nlohmann::ordered_json write_heads(const AppState& state);
void read_heads(Fields& fields, AppState& state);
bool has_heads_settled(const AppState& state);
std::string heads_figure_name(const AppState& state);
std::vector<Shot> heads_shots();

inline constexpr std::string_view kHeadsMouse[] = {
    "Click a small picture: that head is shown large, here and in every workspace.",
    "Shift+click a small picture: pin it; with two pinned they are compared.",
    "Click a weight: the inspector explains it.",
    "Point at a small picture: what the head does.",
};

inline constexpr WorkspaceInfo kHeadsWorkspace{
    .id = Workspace::heads,
    .key = "heads",
    .title = "Heads",
    .tip = "All heads of all layers: what each does, and two side by side.",
    .digit = Key::digit8,
    .shows_document = true,
    .lacks = heads_lacks,
    .enter = enter_heads,
    .add_commands = add_heads_commands,
    .escape = escape_heads,
    .clear = clear_heads,
    .settle = settle_heads,
    .forget = forget_heads,
    .has_side = [](const AppState& state) { return heads_lacks(state).empty(); },
    .inspector = heads_inspector,
    .write = write_heads,
    .read = read_heads,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_heads_settled,
    .figure_name = heads_figure_name,
    .shots = heads_shots,
    .mouse = kHeadsMouse,
};

}  // namespace attn::view
