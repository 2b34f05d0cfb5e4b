#include "app/workspaces/step/map.h"

#include "app/common/document/document.h"
#include "app/common/memo.h"
#include "app/common/state.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/view.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {

MapForm map_form(const AppState& state, Stage stage) {
    const Document& document = state.document();
    if (is_empty(document) || !is_long(document) || state.show_gradients) return MapForm::own;
    if (!has_map(document) && is_stored_stage(state, stage)) return MapForm::own;
    if (stage == Stage::scores) return MapForm::scores;
    if (stage == Stage::scaled) return MapForm::scaled;
    if (stage == Stage::biased) return MapForm::biased;
    if (stage == Stage::masked) return MapForm::masked;
    return stage == Stage::weights ? MapForm::weights : MapForm::own;  // a map has no dropout
}

bool is_map_alone(const AppState& state) {
    return map_look(state).form != MapForm::own && !is_stored_stage(state, state.stage);
}

namespace {

StageCells::Of of_stage(const AppState& state) {
    const bool change = state.show_gradients;
    return {state.shared_document(),
            change ? state.gradients.trace() : state.trace,
            state.stage,
            state.batch,
            state.head,
            change};
}

MapCellsPtr made_cells(const AppState& state) {
    const Document& document = state.document();
    const Stage stage = state.stage;
    const bool change = state.show_gradients;
    const Sheet sheet = change ? gradient_sheet_of(state, stage) : sheet_of(state, stage);
    if (sheet.values.rows == 0) return nullptr;
    const bool weighs = stage >= Stage::weights && !change;
    auto hidden = change ? hidden_gradients(document, stage, state.batch, state.head)
                         : hidden_pairs(document, stage, state.batch, state.head);
    return make_cells({.noun = change ? "gradient" : std::string(info(stage).title),
                       .role = sheet.role,
                       .values = sheet.values,
                       .owner = of_stage(state).owner,
                       .masked = std::move(hidden),
                       .range = weighs ? weights_range(sheet.values) : signed_range(sheet.values)});
}

std::shared_ptr<const StageCells> found_cells(const AppState& state) {
    return found_once(step_look(state).cells, of_stage(state), [&](StageCells::Of of) {
        return StageCells{std::move(of), made_cells(state)};
    });
}

}  // namespace

bool has_stage_cells(const AppState& state) {
    return is_pair(state.stage) && is_long(state.document()) &&
           is_stored_stage(state, state.stage) && map_form(state, state.stage) == MapForm::own;
}

MapCellsPtr stage_cells(const AppState& state) {
    if (!has_stage_cells(state)) return nullptr;
    return found_cells(state)->cells;
}

void follow_stage_cells(AppState& state) {
    auto& cached = step_look(state).cells;
    if (state.workspace != "step" || !has_stage_cells(state)) return cached.reset();
    cached = found_cells(state);
}

}  // namespace attn::view
