#pragma once

#include "app/view/workspaces.h"

namespace attn::view {

struct OpenCheckedInStep;

// The Verify workspace: results of a kernel against an exact reference, where they differ, and which fault explains it.
// See WorkspaceInfo.

std::string verify_lacks(const AppState& state);
/// Opens the number that is looked at; nullopt: it is no cell of what is open.
std::optional<OpenCheckedInStep> checked_in_step(const AppState& state);
void enter_verify(AppState& state);
void add_verify_commands(std::vector<Command>& list, const AppState& state);
std::optional<Action> escape_verify(const AppState& state);
void forget_verify(AppState& state);
InspectorView verify_inspector(const AppState& state);
nlohmann::ordered_json write_verify(const AppState& state);
void read_verify(Fields& fields, AppState& state);
bool has_verify_settled(const AppState& state);
std::string verify_figure_name(const AppState& state);
std::vector<Shot> verify_shots();

inline constexpr std::string_view kVerifyMouse[] = {
    "Click an array, a head or a row: its worst number is looked at.",
    "Click a cell of the map: the panel compares that number with what is expected.",
};

inline constexpr WorkspaceInfo kVerifyWorkspace{
    .id = Workspace::verify,
    .key = "verify",
    .title = "Verify",
    .tip =
        "Results of a kernel against an exact reference: where they differ, and which fault "
        "explains it.",
    .digit = Key::f6,
    .shows_document = true,
    .lacks = verify_lacks,
    .enter = enter_verify,
    .add_commands = add_verify_commands,
    .escape = escape_verify,
    .clear = [](AppState& state) { state.verify_look.cell.reset(); },
    .settle = [](AppState&) {},
    .forget = forget_verify,
    .has_side = [](const AppState&) { return true; },
    .inspector = verify_inspector,
    .write = write_verify,
    .read = read_verify,
    .is_animating = [](const AppState&) { return false; },
    .has_settled = has_verify_settled,
    .figure_name = verify_figure_name,
    .shots = verify_shots,
    .mouse = kVerifyMouse,
};

}  // namespace attn::view
