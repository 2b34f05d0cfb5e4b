#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

// The Lookup workspace: attention as a soft dictionary. See WorkspaceInfo. Memory and Capacity need no document.

void enter_lookup(AppState& state);
void add_lookup_commands(std::vector<Command>& list, const AppState& state);
void clear_lookup(AppState& state);
void settle_lookup(AppState& state);
void forget_lookup(AppState& state);
InspectorView lookup_inspector(const AppState& state);
nlohmann::ordered_json write_lookup(const AppState& state);
void read_lookup(Fields& fields, AppState& state);
bool has_lookup_settled(const AppState& state);
std::string lookup_figure_name(const AppState& state);
std::vector<Shot> lookup_shots();

inline constexpr std::string_view kLookupMouse[] = {
    "Drag the query q: the weights, as areas, and the output follow.",
    "Drag a key or a value; double-click the plane of keys to add a pair there.",
    "Click a row of the table: the inspector writes its arithmetic.",
    "Drag over the curves of Capacity: the width d_k.",
    "Click a cell of a matrix: the inspector explains it.",
    "Drag a token of Permutation to another place.",
};

inline constexpr WorkspaceInfo kLookupWorkspace{
    .id = Workspace::lookup,
    .key = "lookup",
    .title = "Lookup",
    .tip =
        "Attention as a soft dictionary: a query that is dragged, keys that interfere, tokens that "
        "are "
        "shuffled.",
    .digit = Key::f2,
    .shows_document = false,
    .lacks = [](const AppState&) { return std::string(); },
    .enter = enter_lookup,
    .add_commands = add_lookup_commands,
    .escape = [](const AppState&) { return std::optional<Action>(); },
    .clear = clear_lookup,
    .settle = settle_lookup,
    .forget = forget_lookup,
    .has_side = [](const AppState&) { return true; },
    .inspector = lookup_inspector,
    .write = write_lookup,
    .read = read_lookup,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_lookup_settled,
    .figure_name = lookup_figure_name,
    .shots = lookup_shots,
    .mouse = kLookupMouse,
};

}  // namespace attn::view
