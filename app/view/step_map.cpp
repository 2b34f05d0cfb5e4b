#include "app/view/step_map.h"

#include "app/view/common/sheet.h"
#include "app/view/large/camera.h"
#include "app/view/large/words.h"
#include "app/view/large/workspace.h"
#include "app/view/step/workspace.h"

namespace attn::view {

void follow_map(AppState& state) {
    const bool steps = state.workspace == Workspace::step;
    show_form(state, steps ? map_form(state, state.step.stage) : MapForm::own);
    if (state.large.form == MapForm::own) return;
    auto& selected = state.large.selected;
    if (is_map_alone(state)) {
        if (!selected) selected = large::Cell{};
        return;
    }
    const auto& cell = state.step.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    if (stage != nullptr && pair_stages()[index_of(*stage)])
        selected = large::Cell{cell->row, cell->column};
}

bool is_map_alone(const AppState& state) {
    return state.large.form != MapForm::own && !is_kept(state, state.step.stage);
}

InspectorView inspector_of_step(const AppState& state) {
    return is_map_alone(state) ? large_inspector(state) : step_inspector(state);
}

void add_commands_of_step(std::vector<Command>& list, const AppState& state) {
    if (state.large.form != MapForm::own) add_map_commands(list, state);
    add_step_commands(list, state);
}

}  // namespace attn::view
