#include "app/workspaces/kinds/vectors.h"

#include "app/common/sheet.h"

namespace attn::view {

GridView vector_grid(const AppState& state, const std::vector<VectorRow>& rows, std::string title) {
    std::vector<float> values;
    Sheet sheet;
    sheet.id = Stage::context;
    for (const VectorRow& row : rows) {
        sheet.row_labels.push_back(row.label);
        if (row.sum) values.push_back(static_cast<float>(*row.sum));
        for (const double each : row.values) values.push_back(static_cast<float>(each));
    }
    if (rows.front().sum) sheet.column_labels.emplace_back("ℓ");
    for (std::size_t c = 0; c < rows.front().values.size(); ++c)
        sheet.column_labels.push_back(std::to_string(c));
    const Index width = std::ssize(sheet.column_labels);
    sheet.values = {values.data(), std::ssize(rows), width, width};
    sheet.role = Role::value;
    sheet.row_role = Role::weight;
    sheet.column_role = Role::value;
    GridView grid = make_grid(state, sheet, {});
    grid.title = std::move(title);
    grid.editable = false;
    grid.selected.reset();
    return grid;
}

}  // namespace attn::view
