#include "app/common/document/solve.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/column_change.h"
#include "core/trace.h"

namespace attn::view {
namespace {

/// What V is made of, every row of every sequence.
MatrixView<const float> rows_of(const Inputs& inputs) {
    const Tensor& x = inputs.x_kv.empty() ? inputs.x : inputs.x_kv;
    const Shape shape = x.shape();
    return {x.data(), shape.b * shape.t, shape.d, shape.d};
}

}  // namespace

bool is_solved_for(const AppState& state, const OperandId& id) {
    const Inputs& inputs = *state.document().inputs;
    return id == OperandId(Stage::v) && inputs.projects() && is_toy(state.document()) &&
           !inputs.params[Param::w_v].empty();
}

bool can_be_typed(const AppState& state, const OperandId& id) {
    return is_editable(state, id) || is_solved_for(state, id);
}

Result<SolvedValue> solved_for(const AppState& state, const CellHandle& cell, float value) {
    SolvedValue solved{state.document()};
    Inputs inputs = *solved.document.inputs;
    const MatrixView<const float> x = rows_of(inputs);
    const Index rows = state.document().size.tk;
    const double by = static_cast<double>(value) - static_cast<double>(cell.value);
    const auto change = column_change(x, state.batch * rows + cell.row, by);
    if (!change)
        return bad_input(fmt::format("{} cannot be {}: no W_V gives it, because row {} of {} {}",
                                     cell_name(state, cell.cell), value, cell.row,
                                     name_of(key_stage(state.document())),
                                     std::isfinite(value) ? "is 0" : "is finite"));
    Tensor& w = inputs.params[Param::w_v];
    const Index column = cell.head * state.document().size.d_v + cell.column;
    for (std::size_t r = 0; r < change->column.size(); ++r) {
        float& entry = w(0, 0, static_cast<Index>(r), column);
        entry = static_cast<float>(static_cast<double>(entry) + change->column[r]);
    }
    set_inputs(solved.document, std::move(inputs));
    solved.alone = change->alone;
    return solved;
}

}  // namespace attn::view
