#include "app/workspaces/step/workspace.h"

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/explain.h"
#include "app/workspaces/step/explain_backward.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/sources.h"

namespace attn::view {
namespace {

/// The selected cell; without one, the hovered.
std::optional<CellRef> inspected(const AppState& state) {
    for (const auto& cell : {state.selected, state.hovered})
        if (cell && has_cell(state, *cell)) return cell;
    return std::nullopt;
}

/// "∂L/∂S[cat, sat] = 0.0123, L = Σ output": beside a value.
std::string gradient_line(const AppState& state, const CellRef& cell) {
    const auto gradient = gradient_at(state, cell);
    if (!gradient) return {};
    return fmt::format("{} = {}, L = {}", gradient_name(state, cell), number(*gradient),
                       loss_words(state));
}

/// "S[cat, sat] = 0.61, L = output[cat, 2] = 0.83": beside a gradient.
std::string value_line(const AppState& state, const CellRef& cell) {
    const auto loss = loss_value(state);
    return fmt::format("{} = {}, L = {}{}", cell_name(state, cell), number(*value_at(state, cell)),
                       loss_words(state), loss ? " = " + number(*loss) : "");
}

std::string edit_hint(const AppState& state, const CellRef& cell) {
    if (!is_editable(state, cell.tensor)) return {};
    if (cell.tensor == OperandId(Stage::output))
        return "Double-click its target, or press Enter, to say what this output should be.";
    return "Double-click the cell, or press Enter, to change this number.";
}

}  // namespace

InspectorView step_inspector(const AppState& state) {
    InspectorView view;
    if (is_guessing(state)) {
        view.hint = "Numbers are shown once the row is revealed and the stage is shown (Enter).";
        return view;
    }
    const auto cell = inspected(state);
    if (!cell) {
        const bool any = !is_empty(state.document()) && is_kept(state, state.stage);
        if (any) view.hint = "Click any number to see where it comes from.";
        return view;
    }
    const bool backward = state.show_gradients && gradient_at(state, *cell);
    const Explanation explanation =
        backward ? explain_gradient(state, *cell) : explain(state, *cell);
    view.empty = false;
    view.title = explanation.name;
    view.value = number(explanation.value);
    view.role = std::visit([](auto key) { return info(key).role; }, cell->tensor);
    view.tex = explanation.tex;
    view.formula = explanation.formula;
    view.lines = explanation_lines(explanation);
    view.table = explanation_table(explanation);
    view.geometry = backward ? std::vector<Line>{} : geometry_lines(explanation);
    view.gradient = backward ? value_line(state, *cell) : gradient_line(state, *cell);
    if (cell->tensor == OperandId(Stage::output)) view.loss_cell = cell;
    view.editable = is_editable(state, cell->tensor);
    if (!backward) view.sources = sources_of(state, *cell);  // a gradient is made from all of L
    view.edit_hint = edit_hint(state, *cell);
    view.as_text = copy_as_text(explanation);
    view.as_latex = copy_as_latex(explanation);
    view.as_python = copy_as_python(explanation);
    return view;
}

}  // namespace attn::view
