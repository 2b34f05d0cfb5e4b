#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/kinds/explain.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "app/workspaces/kinds/view.h"
#include "core/stages.h"

namespace attn::view {
namespace {

/// The side's name, its steps, its notes.
void add_side(InspectorView& view, const std::string& letter, const KindComputed& side,
              const Explanation& arithmetic) {
    add_line(view, "", {Piece{fmt::format("{}: {}", letter, kind_text(side.kind)), Role::weight}});
    for (Line& line : explanation_lines(arithmetic, 2 * kMostInline))
        add_line(view, std::move(line.label), std::move(line.pieces));
}

/// M and share of each key, of A and of B.
InspectorTable key_table(const AppState& state, const KindsResult& result, large::Cell cell) {
    InspectorTable table{"",
                         "key",
                         {{"M of A", Role::score, true},
                          {"A", Role::weight},
                          {"M of B", Role::score, true},
                          {"B", Role::weight}},
                         {},
                         {}};
    const auto keys = axis_labels(state, Axis::key, result.a.weights().columns);
    std::vector<std::vector<std::string>> texts;
    for (const KindComputed* side : {&result.a, &result.b})
        for (const bool scores : {true, false}) {
            if (scores && !side->has_scores()) {
                texts.emplace_back(keys.size(), "");
                continue;
            }
            const auto row =
                scores ? side->stage(Stage::masked).row(cell.row) : side->weights().row(cell.row);
            texts.push_back(column_texts({row.begin(), row.end()}));
        }
    for (std::size_t j = 0; j < keys.size(); ++j) {
        TableRow row{keys[j], {}, static_cast<Index>(j) == cell.column, false, 0.0};
        for (std::size_t n = 0; n < texts.size(); ++n) {
            const KindComputed& side = n < 2 ? result.a : result.b;
            const bool may = side.may(cell.row, static_cast<Index>(j));
            row.cells.push_back({may          ? texts[n][j]
                                 : n % 2 == 0 ? "masked"
                                              : "0",
                                 n % 2 == 0 ? Role::score : Role::weight,
                                 {}});
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

std::string python_row(const KindComputed& side, const char* name, large::Cell cell) {
    std::string text = fmt::format("{} = np.array([", name);
    if (!side.has_scores())
        return fmt::format("{}_weight = {}\n", name, side.weights()(cell.row, cell.column));
    const auto row = side.stage(Stage::masked).row(cell.row);
    for (std::size_t j = 0; j < row.size(); ++j) {
        const bool may = side.may(cell.row, static_cast<Index>(j));
        text += fmt::format("{}{}", j == 0 ? "" : ", ",
                            may ? fmt::format("{}", row[j]) : std::string("-np.inf"));
    }
    const std::string sink =
        side.kind.sink ? fmt::format(" + np.exp({} - {}.max())", *side.kind.sink, name) : "";
    return text + fmt::format(
                      "])\n{0}_weight = np.exp({0}[{1}] - {0}.max()) / (np.exp({0} - "
                      "{0}.max()).sum(){2})\n",
                      name, cell.column, sink);
}

}  // namespace

InspectorView kinds_inspector(const AppState& state) {
    const auto& result = kinds_look(state).result;
    if (!result || !is_current(*result, state) || !result->whole())
        return only_hint("Select a cell to see the arithmetic of both kinds.");
    const large::Cell cell = shown_pair(state);
    InspectorView view = titled(pair_name(state, {cell.row, cell.column}), Role::weight);
    view.value =
        fmt::format("A {}  B {}", weight_text(*result, KindsSide::a, cell.row, cell.column),
                    weight_text(*result, KindsSide::b, cell.row, cell.column));
    view.as_text = view.title + "\n";
    for (const KindsSide which : {KindsSide::a, KindsSide::b}) {
        const KindComputed& side = result->side(which);
        add_side(view, which == KindsSide::a ? "A" : "B", side,
                 explain_kind(side, *result, cell.row, cell.column));
    }
    view.table = key_table(state, *result, cell);
    view.as_latex = fmt::format("A_{{{0},{1}}} = {2}, \\quad B_{{{0},{1}}} = {3}", cell.row,
                                cell.column, result->a.weights()(cell.row, cell.column),
                                result->b.weights()(cell.row, cell.column));
    view.as_python = "import numpy as np\n" + python_row(result->a, "a", cell) +
                     python_row(result->b, "b", cell);
    return view;
}

}  // namespace attn::view
