#include "app/workspaces/step/grids.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/document/loss.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/toy.h"
#include "app/common/explain/backward.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/workspaces/step/motion.h"
#include "app/workspaces/step/state.h"
#include "app/workspaces/step/view_parts.h"
#include "core/masks.h"
#include "core/metrics.h"
#include "core/rng.h"
#include "core/scores/score.h"
#include "core/softmax.h"
#include "core/spec_arrays.h"
#include "core/tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr double kFaint = 0.1;  // how far an allowed pair of the mask stands out

std::string full_shape(const Tensor& tensor) { return to_string(tensor.shape()); }

SideVector side(std::string title, std::string tooltip, Role role) {
    return {std::move(title), std::move(tooltip), {}, role};
}

/// Row sums of weights; "Σ".
void add_row_sums(GridView& grid, const MatrixView<const float>& a) {
    SideVector sums = side("Σ", "the sum of the row", grid.role);
    for (Index i = 0; i < a.rows; ++i)
        sums.cells.push_back(
            cell_number(std::accumulate(a.row(i).begin(), a.row(i).end(), 0.0), 2));
    grid.sides.push_back(std::move(sums));
}

/// What softmax needs of each masked row: its maximum and Σ exp.
void add_softmax_sides(const AppState& state, GridView& grid) {
    const bool sink = has_sinks(state.document());
    SideVector largest = side("m",
                              sink ? "m_i = max(sink, max_j M[i,j]), the largest logit of the row"
                                   : "m_i = max_j M[i,j], the largest score of the row",
                              grid.role);
    SideVector sums =
        side("Σ exp",
             sink ? "exp(sink − m_i) + Σ_j exp(M[i,j] − m_i), the denominator of the row"
                  : "Σ_j exp(M[i,j] − m_i), the denominator of the row",
             grid.role);
    for (Index i = 0; i < grid.rows; ++i) {
        const SoftmaxRow row = softmax_sides(logits_of(state, i));
        largest.cells.push_back(cell_number(row.max, 2));
        sums.cells.push_back(cell_number(row.sum, 2));
    }
    grid.sides = {std::move(largest), std::move(sums)};
}

GridView word_or_position(const AppState& state, Stage stage, bool word) {
    Sheet sheet = sheet_of(state, stage);
    const Document& document = state.document();
    const auto& tokens = stage == Stage::x ? tokens_of(document, state.batch) : document.tokens_kv;
    std::vector<float> values;
    for (Index i = 0; i < sheet.values.rows; ++i) {
        const std::uint64_t hash = hash_text(tokens[i]);
        for (Index c = 0; c < sheet.values.columns; ++c)
            values.push_back(static_cast<float>(word ? word_value(hash, c) : position_value(i, c)));
    }
    GridView grid = grid_of(state, std::move(sheet), values);
    grid.title = word ? "words" : "positions";
    grid.tooltip = word ? "word vectors: equal words have equal vectors"
                        : "position p, even column c: sin(p / 10000^(c/32)); odd c: cos of the "
                          "angle of column c − 1\nThe divisor is 32 whatever d_model is, so a "
                          "column keeps its frequency when d_model changes.";
    grid.editable = false;
    grid.selected.reset();
    return grid;
}

/// Weight and bias of the step that makes the stage, where it has them.
std::vector<Param> params_of(const AppState& state, Stage stage) {
    std::vector<Param> params;
    for (const ParamInfo& row : param_table()) {
        const bool made =
            row.use == ParamUse::score ? stage == Stage::scores
            : row.use == ParamUse::norm
                ? stage == (row.param == Param::q_norm_weight ? Stage::q_norm : Stage::k_norm)
            : row.use == ParamUse::sink ? stage == Stage::weights
                                        : projection_of(state, row.param).output == stage;
        if (made && !state.gradients->params[row.param].empty()) params.push_back(row.param);
    }
    return params;
}

/// What every output should be: an edited number of it is a target.
GridView target_grid(const AppState& state) {
    Sheet sheet = sheet_of(state, Stage::output);
    std::vector<float> values;
    for (const auto [i, c] : each_cell(sheet.values))
        values.push_back(target_of(state.document(), state.batch, i, c));
    GridView grid = grid_of(state, std::move(sheet), values);
    grid.slot = Slot::right;
    grid.title = "target";
    grid.tooltip = "target of each output, 0 by default\nDouble-click a number to set it.";
    return grid;
}

/// " Largest in size: …", with how many others are as large.
std::string largest_description(const AppState& state, const MatrixView<const float>& values,
                                Stage stage) {
    std::vector<float> sizes;
    for (Index i = 0; i < values.rows; ++i)
        for (const float value : values.row(i)) sizes.push_back(std::abs(value));
    if (std::ranges::any_of(sizes, [](float size) { return std::isnan(size); }))
        return " Some of these gradients are NaN.";
    const auto largest = largest_places(std::span<const float>(sizes), kTied);
    const Index row = largest.front() / values.columns, column = largest.front() % values.columns;
    const std::string value = number(values(row, column));
    if (sizes[largest.front()] == 0.0F) return " All of these gradients are 0.";
    const bool alike = std::ranges::all_of(largest, [&](Index n) {
        return std::signbit(values(n / values.columns, n % values.columns)) ==
               std::signbit(values(row, column));
    });
    if (largest.size() == sizes.size() && sizes.size() > 1)
        return alike ? fmt::format(" All of these gradients are {}.", value)
                     : fmt::format(" All of these gradients have magnitude {}.",
                                   number(std::abs(values(row, column))));
    const auto others = std::ssize(largest) - 1;
    return fmt::format(
        " Largest magnitude: {} = {}{}.", gradient_name(state, {stage, row, column}), value,
        others == 0 ? "" : fmt::format(", and {} as large", counted(others, "other")));
}

}  // namespace

IsMasked hidden_pairs(const Document& document, Stage stage, Index batch, Index head) {
    const bool shows = stage == Stage::masked || stage == Stage::weights || stage == Stage::dropped;
    if (!shows || !document.spec.mask.any()) return {};
    IsMasked hidden = pairs_allowed_by(document, document.spec.mask, batch, head);
    for (std::uint8_t& cell : hidden) cell = cell == 0;
    return hidden;
}

IsMasked hidden_gradients(const Document& document, Stage stage, Index batch, Index head) {
    const bool before = stage >= Stage::scores && stage <= Stage::masked;
    return before ? hidden_pairs(document, Stage::masked, batch, head) : IsMasked();
}

double score_reach(const Trace& trace, Stage stage, Index batch, Index head) {
    const bool after = stage == Stage::scaled || stage == Stage::biased || stage == Stage::masked;
    const Tensor& scores = trace[Stage::scores];
    if (!after || scores.empty()) return 0.0;
    double most = 0.0;
    const auto matrix = scores.matrix(batch, head);
    for (const auto [i, j] : each_cell(matrix))
        if (std::isfinite(matrix(i, j))) most = std::max(most, std::abs(double{matrix(i, j)}));
    return most;
}

bool has_rows_of(const OperandId& id, Axis axis) {
    const Stage* const stage = std::get_if<Stage>(&id);
    return stage != nullptr && info(*stage).rows == axis;
}

bool is_pair(const OperandId& id) {
    const Stage* const stage = std::get_if<Stage>(&id);
    return stage != nullptr && pair_stages()[index_of(*stage)];
}

Index largest_entry(std::span<const float> values) {
    std::size_t best = 0;
    for (std::size_t j = 1; j < values.size(); ++j)
        if (values[j] > values[best] || std::isnan(values[best])) best = j;
    return static_cast<Index>(best);
}

GridView grid_of(const AppState& state, Sheet sheet, const std::vector<float>& values,
                 const GridStyle& style) {
    sheet.values.data = values.data();
    sheet.values.stride = sheet.values.columns;
    return make_grid(state, sheet, style);
}

std::string shown_head_text(const AppState& state, Stage stage) {
    const Index heads = state.document().size.heads;
    if (heads < 2 || info(stage).heads == HeadAxis::none) return {};
    return head_description(state.head, heads);
}

GridView stage_grid(const AppState& state, Stage stage, bool transposed) {
    const StageInfo& row = info(stage);
    Sheet sheet = sheet_of(state, stage);
    const std::vector<float> moving = moving_values(state, stage);
    if (!moving.empty())
        sheet.values = {moving.data(), sheet.values.rows, sheet.values.columns,
                        sheet.values.columns};
    const bool weights = row.colors == ColorScale::unit;
    const bool by_row = weights && step_look(state).rows_scaled;
    GridView grid =
        make_grid(state, sheet,
                  {row.colors, transposed,
                   hidden_pairs(state.document(), stage, state.batch, state.head), by_row});
    if (const double reach = score_reach(*state.trace, stage, state.batch, state.head);
        reach > grid.range.high)
        recolor(grid, {ColorScale::diverging, -reach, reach}, state.theme);
    if (weights && state.stage == stage) grid.rows_scaled = by_row;
    if (transposed) grid.title += "ᵀ";
    grid.tooltip = fmt::format("{}: {}\n{}", row.title,
                               tex::plain_text(forward_formula(state.document(), stage)),
                               full_shape((*state.trace)[stage]));
    if (const std::string shown = shown_head_text(state, stage); !shown.empty())
        grid.tooltip += ", " + shown;
    if (stage == Stage::weights || stage == Stage::dropped) add_row_sums(grid, sheet.values);
    if (stage == Stage::masked && state.stage == Stage::weights) add_softmax_sides(state, grid);
    return grid;
}

GridView param_grid(const AppState& state, Param param) {
    GridView grid = make_grid(state, sheet_of(state, param), {});
    const ParamInfo& row = info(param);
    const HeadColumns part = head_columns(state, param);
    const Tensor& whole = state.document().inputs->params[param];
    const std::string what = row.use == ParamUse::sink ? "one more logit per head, without a value"
                             : row.bias
                                 ? fmt::format("{} numbers", extent(row.columns))
                                 : fmt::format("{} × {}", extent(row.rows), extent(row.columns));
    grid.tooltip = fmt::format("{}: {}\n{}", row.symbol, what, full_shape(whole));
    if (part.count != 0 && part.count < whole.shape().d)
        grid.tooltip += fmt::format(", the columns of head {}", part.first / part.count);
    return grid;
}

GridView mask_grid(const AppState& state) {
    const std::vector<std::uint8_t> allowed = allowed_pairs(state);
    GridView grid = grid_of(state, sheet_of(state, Stage::masked), {allowed.begin(), allowed.end()},
                            {ColorScale::unit, false, {}});
    grid.title = "mask";
    grid.tooltip = "1: the query may attend to the key; 0: forbidden, the score becomes −∞";
    grid.legend = {"1  may attend", "0  forbidden"};
    grid.selected.reset();
    const Theme& colors = theme(state.theme);
    const Color open = blend(colors.background, colors.role(grid.role), kFaint);
    for (std::size_t n = 0; n < grid.cells.size(); ++n) {
        CellView& cell = grid.cells[n];
        cell.look = allowed[n] == 0 ? CellLook::masked : CellLook::number;
        cell.fill = allowed[n] == 0 ? colors.masked : open;
        cell.ink = colors.muted;
    }
    return grid;
}

GridView joined_grid(const AppState& state) {
    const Index heads = state.document().size.heads;
    if (heads == 1) return stage_grid(state, Stage::context);
    Sheet sheet = sheet_of(state, Stage::context);
    const std::vector<float> values = joined_context(state);
    const Index width = sheet.values.columns * heads;
    sheet.values = {values.data(), sheet.values.rows, width, width};
    sheet.column_labels = axis_labels(state, Axis::d_v, width);
    GridView grid = make_grid(state, sheet, {});
    grid.first_column = -state.head * state.document().size.d_v;
    grid.title = "concat(heads)";
    grid.tooltip = fmt::format("the {} heads' contexts side by side\n{}", heads,
                               full_shape((*state.trace)[Stage::context]));
    grid.selected.reset();
    if (const auto& cell = state.selected; cell && cell->tensor == grid.id)
        grid.selected = {cell->row, cell->column - grid.first_column};
    for (Index head = 0; head < heads; ++head)
        grid.groups.push_back(
            {head * (width / heads), fmt::format("head {}", head), head == state.head});
    return grid;
}

bool are_embeddings(const AppState& state, Stage stage) {
    const Index rows = sheet_of(state, stage).values.rows;
    for (Index i = 0; i < rows; ++i)
        if (!is_embedding(state, stage, i)) return false;
    return rows > 0;
}

std::vector<GridView> embedding_grids(const AppState& state, Stage stage) {
    if (!state.document().sinusoid || !are_embeddings(state, stage)) return {};
    return {word_or_position(state, stage, true), word_or_position(state, stage, false)};
}

GridView gradient_grid(const AppState& state, const OperandId& id) {
    const Stage* const stage = std::get_if<Stage>(&id);
    const IsMasked hidden =
        stage ? hidden_gradients(state.document(), *stage, state.batch, state.head) : IsMasked();
    GridView grid =
        make_grid(state, gradient_sheet_of(state, id), {ColorScale::diverging, false, hidden});
    grid.title = "∂L/∂" + name_of(id);
    grid.tooltip = fmt::format("gradient of L = {} with respect to {}\n{}", loss_text(state),
                               name_of(id), tex::plain_text(gradient_formula(state, id)));
    grid.editable = false;
    return grid;
}

std::vector<GridView> gradient_operands(const AppState& state, Stage stage) {
    std::vector<GridView> grids;
    for (const Param param : params_of(state, stage))
        for (GridView grid : {param_grid(state, param), gradient_grid(state, param)}) {
            const ParamUse use = info(param).use;
            const bool shares = use == ParamUse::projection || use == ParamUse::output;
            grid.slot = shares ? Slot::top : Slot::right;
            grids.push_back(std::move(grid));
        }
    GridView value = stage_grid(state, stage);
    value.slot = Slot::left;
    if (stage == Stage::output) value.editable = false;
    grids.push_back(std::move(value));
    if (stage == Stage::output && has_targets(state)) grids.push_back(target_grid(state));
    return grids;
}

std::string gradient_text(const AppState& state, Stage stage) {
    const auto loss = loss_value(state);
    const std::string text = fmt::format("How fast L grows with each number; L = {}{}.",
                                         loss_text(state), loss ? " = " + number(*loss) : "");
    const auto values = gradient_of(state, stage);
    if (values.rows == 0 || values.columns == 0) return text;
    return text + largest_description(state, values, stage);
}

}  // namespace attn::view
