#include "app/common/document/model_place.h"

#include "app/common/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// The query of the selected number; nullopt: the number is of no query.
std::optional<Index> selected_query(const AppState& state) {
    const auto& cell = state.selected;
    const Stage* const stage = cell ? std::get_if<Stage>(&cell->tensor) : nullptr;
    if (stage == nullptr || info(*stage).rows != Axis::query) return std::nullopt;
    return cell->row;
}

}  // namespace

bool has_model_place(const AppState& state) {
    const WorkspaceInfo* const model = find_workspace(state.workspaces, "model");
    return model != nullptr && model_of(state.document()) != nullptr &&
           model->missing_data(state).empty();
}

void carry_out(AppState& state, const ShowModelPlace& action) {
    if (!has_model_place(state))
        return warn(state, "A trained model has layers around attention: open one with Ctrl+O.");
    model_place_look(state) = {action.place, selected_query(state)};
    carry_out(state, SetWorkspace{"model"});
}

}  // namespace attn::view
