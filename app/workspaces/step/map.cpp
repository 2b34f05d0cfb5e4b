#include "app/workspaces/step/map.h"

#include <utility>

#include "app/common/map/state.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/workspace.h"

namespace attn::view {

MapForm map_form(const AppState& state, Stage stage) {
    const Document& document = state.document();
    if (is_empty(document) || !is_long(document) || state.show_gradients) return MapForm::own;
    if (!has_map(document) && is_kept(state, stage)) return MapForm::own;
    if (stage == Stage::scores) return MapForm::scores;
    if (stage == Stage::scaled) return MapForm::scaled;
    if (stage == Stage::biased) return MapForm::biased;
    if (stage == Stage::masked) return MapForm::masked;
    return stage == Stage::weights ? MapForm::weights : MapForm::own;  // a map has no dropout
}

bool is_map_alone(const AppState& state) {
    return map_look(state).form != MapForm::own && !is_kept(state, state.stage);
}

MapCellsPtr stage_cells(const AppState& state) {
    const Document& document = state.document();
    const Stage stage = state.stage;
    const bool own = is_pair(stage) && is_long(document) && is_kept(state, stage) &&
                     map_form(state, stage) == MapForm::own;
    if (!own) return nullptr;
    const bool change = state.show_gradients;
    const Sheet sheet = change ? gradient_sheet_of(state, stage) : sheet_of(state, stage);
    if (sheet.values.rows == 0) return nullptr;
    const bool weighs = stage >= Stage::weights && !change;
    auto hidden = change ? hidden_gradients(document, stage, state.batch, state.head)
                         : hidden_pairs(document, stage, state.batch, state.head);
    const auto& owner = change ? state.gradients : state.trace;
    return make_cells({.noun = change ? "gradient" : std::string(info(stage).title),
                       .role = sheet.role,
                       .values = sheet.values,
                       .owner = owner,
                       .masked = std::move(hidden),
                       .range = weighs ? weights_range(sheet.values) : signed_range(sheet.values)});
}

}  // namespace attn::view
