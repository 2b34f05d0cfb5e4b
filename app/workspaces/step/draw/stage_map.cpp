#include "app/common/draw/workspace.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/map.h"
#include "app/workspaces/step/state.h"

namespace attn::ui {
namespace {

view::CellRef cell_of(const view::AppState& state, const large::Cell& cell) {
    return {state.stage, cell.row, cell.column};
}

/// Where Step has the numbers itself, a cell of the map is one of its own.
view::Action in_step(const view::AppState& state, const view::Action& action) {
    const auto* const select = action.as<view::SelectMapCell>();
    if (select == nullptr || view::is_map_alone(state)) return action;
    return view::SelectCell{cell_of(state, select->cell)};
}

}  // namespace

std::optional<view::CellRef> draw_stage_map(const view::AppState& state, const Frame& frame,
                                            view::Actions& out) {
    const view::MapView view = build_map_view(state);
    view::Actions asked;
    draw_map_alone({view, view::map_look(state), frame, asked});
    for (const view::Action& action : asked) out.push_back(in_step(state, action));
    if (!view::map_look(state).hovered || view::is_map_alone(state)) return std::nullopt;
    return cell_of(state, *view::map_look(state).hovered);
}

}  // namespace attn::ui
