#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/compare/view.h"
#include "app/workspaces/compare/workspace.h"

namespace attn::view {
namespace {

/// The whole row of both, the selected cell's marked.
InspectorTable compare_table(const AppState& state, const ComparedStage& stage) {
    const StageInfo& row = info(compare_look(state).stage);
    const auto [i, chosen] = compare_look(state).cell;
    const auto labels = axis_labels(state.document(), row.columns, stage.b.columns);
    InspectorTable table{"the row in A and in B",
                         row.columns == Axis::key ? "key" : "column",
                         {{"A", row.role}, {"B", row.role}, {"B − A", Role::score}},
                         {},
                         std::nullopt};
    for (Index j = 0; j < stage.b.columns; ++j) {
        const float a = stage.a(i, j);
        const float b = stage.b(i, j);
        TableRow line{labels[static_cast<std::size_t>(j)], {}};
        line.cells = {{cell_number(a, 4), row.role, {}},
                      {cell_number(b, 4), row.role, {}},
                      {cell_number(signed_difference(a, b), 4), Role::score, {}}};
        line.chosen = j == chosen;
        table.rows.push_back(std::move(line));
    }
    return table;
}

}  // namespace

InspectorView compare_inspector(const AppState& state) {
    InspectorView view;
    if (!compare_lacks(state).empty()) return view;
    const CompareLook& look = compare_look(state);
    if (look.pins.empty()) {
        view.hint = "B pins what is shown as the baseline A.";
        return view;
    }
    const ComparePin& pin = look.pins[look.baseline];
    const AppState pinned = pinned_state(state, pin);
    const ComparedStage stage = compared_stage(state, pinned);
    const auto [i, j] = look.cell;
    if (!stage.lacks.empty() || i >= stage.b.rows || j >= stage.b.columns) {
        view.hint = stage.lacks.empty() ? "Click a cell: it is compared here." : stage.lacks;
        return view;
    }
    view.empty = false;
    view.role = info(look.stage).role;
    view.title = cell_name(state, {look.stage, i, j});
    const float a = stage.a(i, j);
    const float b = stage.b(i, j);
    view.value = fmt::format("{} → {}", number(a), number(b));
    view.formula = fmt::format("B − A = {} − {} = {}", number(b), factor(number(a)),
                               number(signed_difference(a, b)));
    view.lines = {text_line("A", pin.words), text_line("B", pin_words(state))};
    for (const Difference& difference : differences(state, pin))
        view.add("differs", difference_words(difference));
    view.table = compare_table(state, stage);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

}  // namespace attn::view
