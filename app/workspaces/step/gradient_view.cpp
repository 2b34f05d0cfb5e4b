#include "app/workspaces/step/gradient_view.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/format.h"
#include "app/workspaces/step/backward_parts.h"
#include "app/workspaces/step/explain_backward.h"
#include "app/workspaces/step/grids.h"
#include "core/gradient_tex.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// Weight and bias of the step that makes the stage, where it has them.
std::vector<Param> params_of(const AppState& state, Stage stage) {
    std::vector<Param> params;
    for (const Param param : {Param::w_o, Param::b_o, Param::w_q, Param::b_q, Param::w_k,
                              Param::b_k, Param::w_v, Param::b_v})
        if (projection_of(state, param).output == stage && !state.gradients->params[param].empty())
            params.push_back(param);
    return params;
}

/// What every output should be: an edited number of it is a target.
GridView target_grid(const AppState& state) {
    Sheet sheet = sheet_of(state, Stage::output);
    std::vector<float> values;
    for (Index i = 0; i < sheet.values.rows; ++i)
        for (Index c = 0; c < sheet.values.columns; ++c)
            values.push_back(target_of(state.document(), state.batch, i, c));
    GridView grid = grid_of(state, std::move(sheet), values);
    grid.slot = Slot::right;
    grid.title = "target";
    grid.tooltip =
        "what each output should be: 0 unless it is set\nDouble-click a number to set it.";
    return grid;
}

/// The largest in size; nullopt where all are 0 or one is NaN.
struct Largest {
    std::optional<CellRef> cell;
    double value = 0.0;
    bool has_nan = false;
};
Largest largest_of(const MatrixView<const float>& values, Stage stage) {
    Largest largest;
    for (Index i = 0; i < values.rows; ++i)
        for (Index j = 0; j < values.columns; ++j) {
            const double value = values(i, j);
            largest.has_nan = largest.has_nan || std::isnan(value);
            if (!(std::abs(value) > std::abs(largest.value))) continue;
            largest.value = value;
            largest.cell = CellRef{stage, i, j};
        }
    return largest;
}

}  // namespace

GridView gradient_grid(const AppState& state, const OperandId& id) {
    GridView grid = make_grid(state, gradient_sheet_of(state, id), {});
    grid.title = "∂L/∂" + name_of(id);
    grid.tooltip = fmt::format("gradient of L = {} with respect to {}\n{}", loss_words(state),
                               name_of(id), tex::plain_text(gradient_formula(state, id)));
    grid.editable = false;
    return grid;
}

std::vector<GridView> gradient_operands(const AppState& state, Stage stage) {
    std::vector<GridView> grids;
    for (const Param param : params_of(state, stage))
        for (GridView grid : {param_grid(state, param), gradient_grid(state, param)}) {
            grid.slot = Slot::top;
            grids.push_back(std::move(grid));
        }
    GridView value = stage_grid(state, stage);
    value.slot = Slot::left;
    if (stage == Stage::output) value.editable = false;
    grids.push_back(std::move(value));
    if (stage == Stage::output && has_targets(state)) grids.push_back(target_grid(state));
    return grids;
}

std::string gradient_words(const AppState& state, Stage stage) {
    const auto loss = loss_value(state);
    const std::string words = fmt::format("How fast L grows with each number; L = {}{}.",
                                          loss_words(state), loss ? " = " + number(*loss) : "");
    const auto values = gradient_of(state, stage);
    if (values.rows == 0 || values.columns == 0) return words;
    const Largest largest = largest_of(values, stage);
    if (largest.has_nan) return words + " Some of these gradients are NaN.";
    if (!largest.cell) return words + " All of these gradients are 0.";
    return fmt::format("{} Largest in size: {} = {}.", words, gradient_name(state, *largest.cell),
                       number(largest.value));
}

}  // namespace attn::view
