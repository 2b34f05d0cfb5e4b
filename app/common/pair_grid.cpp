#include "app/common/pair_grid.h"

#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/stages.h"

namespace attn::view {

GridView pair_grid(const AppState& state, MatrixView<const float> values, const GridStyle& style,
                   std::string title) {
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = values;
    sheet.row_labels = axis_labels(state, Axis::query, values.rows);
    sheet.column_labels = axis_labels(state, Axis::key, values.columns);
    sheet.role = Role::weight;
    GridView grid = make_grid(state, sheet, style);
    grid.title = std::move(title);
    return grid;
}

void look_at(GridView& grid, large::Cell cell, const std::optional<large::Cell>& hovered) {
    const auto inside = [&](large::Cell at) {
        return at.row < grid.rows && at.column < grid.columns;
    };
    grid.editable = false;
    grid.selected.reset();
    if (inside(cell)) grid.selected = {cell.row, cell.column};
    const large::Cell focus = hovered.value_or(cell);
    if (!inside(focus)) return;
    grid.focus_row = focus.row;
    grid.focus_column = focus.column;
}

}  // namespace attn::view
