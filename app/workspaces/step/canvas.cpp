#include "app/common/document/document.h"
#include "app/workspaces/step/view_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/view.h"
#include "core/large/map_input.h"
#include "core/spec_arrays.h"
#include "core/stages.h"
#include "core/trace.h"

namespace attn::view {
namespace {

GridView operand_grid(const AppState& state, Stage result, const OperandId& id) {
    if (const Param* param = std::get_if<Param>(&id)) return param_grid(state, *param);
    const Stage stage = std::get<Stage>(id);
    if (stage == Stage::context) return joined_grid(state);
    const bool keys = stage == Stage::k || stage == Stage::k_norm || stage == Stage::k_rot;
    return stage_grid(state, stage, result == Stage::scores && keys);
}

void light_sources(GridView& grid, Lights lights, const CellRef& focus, Index head) {
    if (lights == Lights::same_cell) light(grid, {grid.id, focus.row, focus.column});
    if (lights == Lights::same_row) light_row(grid, focus.row);
    if (lights == Lights::row_of_column) light_row(grid, focus.column);
    if (lights == Lights::column) light_column(grid, focus.column);
    if (lights == Lights::own_head) light_column(grid, head);
}

/// The cell whose sources are lit: the hovered one of the result, else the selected one.
std::optional<CellRef> focus_of(const AppState& state) {
    const auto& cell = state.hovered ? state.hovered : state.selected;
    return cell && cell->tensor == OperandId(state.stage) ? cell : std::nullopt;
}

/// A hovered operand cell (or a link to one) is lit itself.
void light_hovered(const AppState& state, GridView& grid) {
    const auto& hovered = state.hovered;
    if (hovered && hovered->tensor == grid.id && grid.id != OperandId(state.stage))
        light(grid, *hovered);
}

void put(std::vector<GridView>& grids, GridView grid, Slot slot, std::string action = {}) {
    grid.slot = slot;
    grid.action = std::move(action);
    grids.push_back(std::move(grid));
}

std::vector<GridView> embedding_canvas(const AppState& state, Stage stage) {
    std::vector<GridView> canvas = embedding_grids(state, stage);
    for (GridView& grid : canvas) {
        if (const auto focus = focus_of(state)) light(grid, *focus);
        grid.slot = Slot::left;
    }
    return canvas;
}

/// What stands beside the gradient.
std::vector<GridView> gradient_canvas(const AppState& state, Stage stage) {
    std::vector<GridView> canvas = gradient_operands(state, stage);
    for (GridView& grid : canvas)
        for (const auto& focus : {focus_of(state), state.hovered})
            if (focus && grid.id == focus->tensor) light(grid, *focus);
    return canvas;
}

/// "cap 30, bias, ALiBi": what makes biased scores of scaled ones.
std::string bias_names(const AttentionSpec& spec) {
    std::vector<std::string> names;
    if (spec.softcap) names.push_back("cap " + significant(*spec.softcap, 4));
    if (spec.mask.bias)
        names.insert(spec.bias_before_softcap ? names.begin() : names.end(), "bias");
    if (spec.alibi) names.emplace_back("ALiBi");
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string action_of(const AppState& state, Stage stage) {
    if (stage == Stage::weights) return "softmax";
    if (stage == Stage::scaled) return scale_description(state.document());
    if (stage == Stage::biased) return bias_names(state.document().spec);
    if (stage == Stage::dropped)
        return fmt::format("dropout {}", significant(state.document().spec.dropout, 2));
    return {};
}

/// A weight matrix shares its columns with what it makes, as V does; in scores a key's row is a column. A score's own
/// parameters share none.
Slot slot_of(const Operand& operand) {
    if (operand.lights == Lights::column || operand.lights == Lights::row_of_column)
        return Slot::top;
    if (operand.lights == Lights::whole) return Slot::right;
    return Slot::left;
}

GridView highlighted_operand(const AppState& state, Stage stage, const Operand& operand,
                             bool copied) {
    GridView grid = operand_grid(state, stage, operand.id);
    const auto focus = focus_of(state);
    if (focus && copied)
        light(grid, {grid.id, focus->row, focus->column + grid.first_column});
    else if (focus)
        light_sources(grid, operand.lights, *focus, state.head);
    light_hovered(state, grid);
    return grid;
}

/// Row by row where a stage works on the pairs of query and key alone.
void put_rows(const AppState& state, Stage stage, std::vector<GridView>& canvas) {
    const Index row = focused_row(state);
    std::vector<GridView> rows;
    for (const GridView& whole : canvas)
        if (is_pair(whole.id)) rows.push_back(row_grid(whole, row));
    for (std::size_t n = 0; n < rows.size(); ++n)
        put(canvas, std::move(rows[n]), Slot::top,
            n + 1 == rows.size() ? action_of(state, stage) : "");
    if (stage != Stage::weights && stage != Stage::dropped) return;
    if (stage == Stage::weights) canvas.clear();  // the scores of a weight stand in the inspector
    GridView bars = row_grid(stage_grid(state, stage), row);
    bars.as_bars = true;
    bars.range.high = std::max(1.0, bars.range.high);  // of every row the same axis
    put(canvas, std::move(bars), Slot::top);
}

std::vector<GridView> table_canvas(const AppState& state, Stage stage) {
    std::vector<GridView> canvas;
    const bool copied = stage == Stage::output && !mixes(state.document());
    for (const Operand& operand : operands_of(state.document(), stage)) {
        if (copied && operand.id == OperandId(Param::w_o)) continue;
        if (operand.lights == Lights::own_head) continue;  // a sink has no row or column here
        const Param* const param = std::get_if<Param>(&operand.id);
        if (param != nullptr && state.document().inputs->params[*param].empty()) continue;
        if (!is_stored_stage(state, operand.id)) continue;
        put(canvas, highlighted_operand(state, stage, operand, copied), slot_of(operand));
    }
    if (stage == Stage::masked && is_stored_stage(state, Stage::masked)) {
        put(canvas, mask_grid(state), Slot::left);
        if (const auto focus = focus_of(state)) light(canvas.back(), *focus);
    }
    const bool by_rows = is_pair(stage) && stage != Stage::scores;
    if (by_rows && is_stored_stage(state, stage)) put_rows(state, stage, canvas);
    return canvas;
}

}  // namespace

Index focused_row(const AppState& state) {
    const auto row_of = [](const std::optional<CellRef>& cell) {
        return cell && has_rows_of(cell->tensor, Axis::query) ? std::optional(cell->row)
                                                              : std::nullopt;
    };
    const Index rows = state.document().size.tq;
    return std::min(row_of(state.hovered).value_or(row_of(state.selected).value_or(0)), rows - 1);
}

std::optional<CellRef> hovered_weight(const AppState& state) {
    const bool weights = state.stage == Stage::weights || state.stage == Stage::dropped;
    if (!weights || state.show_gradients || step_look(state).editing || !state.hovered)
        return std::nullopt;
    return state.hovered->tensor == OperandId(state.stage) ? state.hovered : std::nullopt;
}

bool mixes(const Document& document) { return !document.inputs->params[Param::w_o].empty(); }

std::vector<GridView> canvas_of(const AppState& state, Stage stage) {
    if (state.show_gradients) return gradient_canvas(state, stage);
    if (stage == Stage::x || stage == Stage::x_kv) return embedding_canvas(state, stage);
    return table_canvas(state, stage);
}

void focus_grids(const AppState& state, StepView& view) {
    const auto focus = [&](GridView& grid) {
        if (grid.row_role == Role::query && grid.rows > 1 && !grid.transposed)
            grid.focus_row = focused_row(state);
        for (const auto& cell : {state.selected, state.hovered})
            if (cell) focus_on(grid, *cell);
    };
    focus(view.result);
    for (GridView& grid : view.operands) focus(grid);
}

GridView result_of(const AppState& state, Stage stage) {
    return state.show_gradients ? gradient_grid(state, stage) : stage_grid(state, stage);
}

void light_operand(const AppState& state, StepView& view) {
    view.highlighted = step_look(state).highlighted;
    if (!view.highlighted) return;
    const OperandId highlighted = operand_of(state.document(), state.stage, *view.highlighted);
    std::vector<GridView*> grids{&view.result};
    for (GridView& operand : view.operands) grids.push_back(&operand);
    const auto is_highlighted = [&](const GridView* grid) { return grid->id == highlighted; };
    if (std::ranges::none_of(grids, is_highlighted)) return;
    for (GridView* const grid : grids)
        grid->highlighted.assign(grid->cells.size(), is_highlighted(grid));
}

}  // namespace attn::view
