#include "app/workspaces/step/map.h"

#include "app/common/map/actions.h"
#include "app/common/map/commands.h"
#include "app/common/map/inspector.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {

void follow_map(AppState& state) {
    const bool steps = state.workspace == "step";
    show_form(state, steps ? map_form(state, state.stage) : MapForm::own);
    if (map_look(state).form == MapForm::own) return;
    auto& selected = map_look(state).selected;
    if (is_map_alone(state)) {
        if (!selected) selected = large::Cell{};
        return;
    }
    const auto& cell = state.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    if (stage != nullptr && pair_stages()[index_of(*stage)])
        selected = large::Cell{cell->row, cell->column};
}

bool is_map_alone(const AppState& state) {
    return map_look(state).form != MapForm::own && !is_kept(state, state.stage);
}

InspectorView inspector_of_step(const AppState& state) {
    return is_map_alone(state) ? map_inspector(state) : step_inspector(state);
}

void add_commands_of_step(std::vector<Command>& list, const AppState& state) {
    if (map_look(state).form != MapForm::own) add_map_commands({list, "Step"}, state);
    add_step_commands(list, state);
}

}  // namespace attn::view
