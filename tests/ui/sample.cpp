#include "tests/ui/sample.h"

#include "app/common/format.h"
#include "app/common/keys.h"
#include "core/large/map_input.h"

namespace attn::test {
namespace {

std::string label(Index n) {
    std::string text = "token ";
    text += std::to_string(n);
    return text;
}

}  // namespace

view::GridView sample_grid(OperandId id, Index rows, Index columns) {
    view::GridView grid;
    grid.id = id;
    grid.title = std::string("matrix");
    grid.shape = view::size(rows, columns);
    grid.rows = rows;
    grid.columns = columns;
    for (Index row = 0; row < rows; ++row) grid.row_labels.push_back(label(row));
    for (Index column = 0; column < columns; ++column) grid.column_labels.push_back(label(column));
    for (Index n = 0; n < rows * columns; ++n) {
        const double value = 0.25 * static_cast<double>(n) - 1.0;
        grid.cells.push_back({value,
                              view::CellLook::number,
                              {40, 60, 90},
                              {255, 255, 255},
                              view::cell_number(value, 2)});
    }
    grid.range = {ColorScale::diverging, -1.0, 1.0};
    grid.low_label = "-1.00";
    grid.high_label = "1.00";
    return grid;
}

view::StepView sample_scores() {
    view::StepView view;
    view.title = "Raw scores";
    view.formula = "scores[i,j] = q_i · k_j";
    view.text = "The dot product of each query with each key.";
    view.operands = {sample_grid(Stage::q, 3, 2), sample_grid(Stage::k, 2, 3)};
    view.operands[1].transposed = true;
    view.operands[1].row_labels = {"0", "1"};
    view.operands[0].slot = view::Slot::left;
    view.operands[1].slot = view::Slot::top;
    view.queries = view.keys = {"a", "b", "c"};
    view.result = sample_grid(Stage::scores, 3, 3);
    view.controls = {{},    "",    "a b c",      4, 2, 1, 0, true, "÷ √2", 1.0, false, 1,
                     false, false, "toy weights"};
    return view;
}

view::StepView sample_input() {
    view::StepView view;
    view.title = "Token vectors";
    view.queries = view.keys = {"a", "b", "c"};
    view.result = sample_grid(Stage::x, 3, 4);
    view.result.editable = true;
    view.result.column_role = Role::input;
    view.result.selected = std::pair<Index, Index>{0, 0};
    view.controls = sample_scores().controls;
    return view;
}

}  // namespace attn::test
