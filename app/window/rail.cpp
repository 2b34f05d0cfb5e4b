#include "app/window/rail.h"

#include <algorithm>

#include "app/common/actions.h"
#include "app/common/state.h"
#include "app/window/journal.h"
#include "app/window/lecture.h"

namespace attn::view {

bool is_on_rail(const AppState& state, Group group) {
    const WorkspaceInfo& shown = shown_workspace(state);
    return group < Group::compare || rail_look(state).all_tools ||
           (shown.group == group && !shown.at_bottom);
}

bool is_example_due(const AppState& state) {
    const bool guided = state.tour.on || lecture_look(state).on || state.presenter;
    const bool changed = state.now > 0 && !state.history[state.now].opens;
    return !guided && !changed && !state.opening &&
           std::ranges::count(rail_look(state).examples, state.workspace) == 0 &&
           !shown_workspace(state).example(state).empty();
}

void carry_out(AppState& state, const OpenExample&) {
    rail_look(state).examples.emplace_back(state.workspace);
    const std::size_t before = state.now;
    for (const Action& action : shown_workspace(state).example(state)) action.carry_out(state);
    // An example is another document, not a change: other workspaces may open theirs.
    if (state.now != before) state.history[state.now].opens = true;
}

void carry_out(AppState& state, const ShowStart&) {
    Action(SetWorkspace{"step"}).carry_out(state);
    if (const auto offers = from_journal(R"({"action":"show_doors","on":true})"))
        offers->carry_out(state);
}

}  // namespace attn::view
