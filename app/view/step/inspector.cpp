#include "app/view/step/workspace.h"

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/sheet.h"
#include "app/view/step/explain.h"

namespace attn::view {
namespace {

/// The selected cell; without one, the hovered.
std::optional<CellRef> inspected(const AppState& state) {
    for (const auto& cell : {state.step.selected, state.step.hovered})
        if (cell && has_cell(state, *cell)) return cell;
    return std::nullopt;
}

std::string gradient_words(const AppState& state, const CellRef& cell) {
    const auto gradient = gradient_of(state, cell.tensor);
    const bool kept =
        cell.row < gradient.rows && cell.column >= 0 && cell.column < gradient.columns;
    if (!kept) return {};
    return fmt::format("∂L/∂{} = {}, L = Σ output", cell_name(state, cell),
                       number(gradient(cell.row, cell.column)));
}

}  // namespace

InspectorView step_inspector(const AppState& state) {
    InspectorView view;
    const auto cell = inspected(state);
    if (!cell) {
        const bool any = !is_empty(state.document()) && is_kept(state, state.step.stage);
        if (any) view.hint = "Click any number to see where it comes from.";
        return view;
    }
    const Explanation explanation = explain(state, *cell);
    view.empty = false;
    view.title = cell_name(state, *cell);
    view.value = number(explanation.value);
    view.role = std::visit([](auto key) { return info(key).role; }, cell->tensor);
    view.lines = explanation_lines(explanation);
    view.table = explanation_table(explanation);
    view.geometry = geometry_lines(explanation);
    view.gradient = gradient_words(state, *cell);
    view.editable = is_editable(state, cell->tensor);
    view.as_text = copy_as_text(explanation);
    view.as_latex = copy_as_latex(explanation);
    view.as_python = copy_as_python(explanation);
    return view;
}

}  // namespace attn::view
