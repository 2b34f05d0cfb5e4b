#include "app/common/workspace.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/common/document/edits.h"
#include "app/common/field_text.h"
#include "app/workspaces/positions/actions.h"
#include "app/workspaces/positions/view.h"

namespace attn::view {
namespace {

/// Not undone: the curves of the settings that are shown.
void follow_positions(AppState& state) {
    if (state.workspace != "positions") return;
    auto scores = scores_of(state);
    if (scores != positions_curves(state).scores)
        positions_curves(state).scores = std::move(scores);
}

/// The action that changes one thing.
template <class Change>
SetPositions changed(const AppState& state, Change&& change) {
    SetPositions action{positions_controls(state)};
    change(action.to);
    return action;
}

SetPositions at_distance(const AppState& state, Index distance) {
    return changed(state, [&](PositionsControls& to) {
        to.distance = std::clamp<Index>(distance, 0, to.settings.farthest);
    });
}

SetPositions with_kind(const AppState& state, std::size_t n) {
    return changed(state, [&](PositionsControls& to) {
        to.kind = static_cast<PositionKind>(n % kPositionKindCount);
    });
}

void add_positions_commands(std::vector<Command>& list, const AppState& state) {
    const CommandAdder add{list, "Positions"};
    const PositionsControls& now = positions_controls(state);
    add("One token farther", Key::right, at_distance(state, now.distance + 1));
    add("One token nearer", Key::left, at_distance(state, now.distance - 1));
    add("Distance 0: the same token", Key::home, at_distance(state, 0));
    add("The farthest distance", Key::end, at_distance(state, now.settings.farthest));
    const auto kind = static_cast<std::size_t>(now.kind);
    add("Next positional encoding", Key::down, with_kind(state, kind + 1));
    add("Previous positional encoding", Key::up, with_kind(state, kind + kPositionKindCount - 1));
    for (std::size_t n = 0; n < kPositionKindCount; ++n)
        add(fmt::format("Positions: {}", kPositionKindNames[n]), Key::none, with_kind(state, n));
    add("Next head of ALiBi", Key::h, changed(state, [](PositionsControls& to) {
            to.settings.head = (to.settings.head + 1) % to.settings.heads;
        }));
    add("New random content", Key::r,
        changed(state, [](PositionsControls& to) { ++to.settings.seed; }));
}

std::vector<Shot> positions_shots() {
    const auto shot = [](PositionKind kind) { return Actions{SetPositions{{.kind = kind}}}; };
    return {{"", {}},
            {"sinusoidal", shot(PositionKind::sinusoidal)},
            {"learned", shot(PositionKind::learned)},
            {"alibi", shot(PositionKind::alibi)}};
}

constexpr std::string_view kMouse[] = {
    "Drag over the large plot to change the distance.",
    "Click a small plot to show that encoding in the large plot, at that distance.",
    "Drag a setting, or double-click it to type a value.",
};
constexpr PersistedValue kValues[] = {persisted(positions_controls)};

}  // namespace

void carry_out(AppState& state, const SetPositions& action) {
    const PositionsControls& now = positions_controls(state);
    const PositionsControls to = inside(action.to, now.settings.d_k);
    if (const std::string why = fault_of(to); !why.empty()) return show_error(state, why);
    edit_controls(state, to, changed_text(now, to));
}

extern const WorkspaceInfo kPositionsWorkspace{
    .key = "positions",
    .title = "Positions",
    .tip =
        "The effect of sinusoidal, learned, RoPE and ALiBi positions on q · k over the distance.",
    .group = Group::attention,
    .letter = Key::p,
    .former = {Key::p, false, false, Key::digit4},
    .actions = PositionsActions::kTypes,
    .values = kValues,
    .enter =
        [](AppState& state) {
            show_message(state, "← and → change the distance, ↑ and ↓ the encoding.");
        },
    .add_commands = add_positions_commands,
    .follow = follow_positions,
    .reasons = positions_reasons,
    .has_side = [](const AppState&) { return true; },
    .inspector = positions_inspector,
    .shots = positions_shots,
    .mouse = kMouse,
};

}  // namespace attn::view
