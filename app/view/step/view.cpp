#include "app/view/step/view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/words.h"
#include "app/view/document/effect.h"
#include "app/view/step/explain.h"
#include "app/view/step/gradient_view.h"
#include "app/view/step/grids.h"
#include "app/view/step/loss.h"
#include "app/view/step/workspace.h"
#include "core/metrics.h"
#include "core/tex.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::string_view kFirstHint =
    "Press → to compute the next stage. Click any number to see where it comes from.";
constexpr std::string_view kEmptyHint = "Type a sentence and press Enter.";

/// "÷ √4 = 2", "× 0.5", "as they are", with the temperature when it is not 1.
std::string factor_words(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::string words = "not scaled";
    if (spec.scale == ScaleKind::sqrt_dk)
        words = fmt::format("÷ √{} = {}", document.d_k,
                            significant(std::sqrt(static_cast<double>(document.d_k)), 4));
    if (spec.scale == ScaleKind::value) words = "× " + significant(spec.scale_value, 4);
    return words;
}

/// The same with the temperature.
std::string scale_words(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::string words = factor_words(document);
    if (spec.temperature != 1.0) words += ", ÷ " + significant(spec.temperature, 4);
    return words;
}

// ---- ribbon

std::string step_label(const Document& document, const StageInfo& stage) {
    if (stage.stage != Stage::scaled) return std::string(stage.step);
    if (document.spec.scale == ScaleKind::none) return "÷1";
    if (document.spec.scale == ScaleKind::value)
        return "×" + significant(document.spec.scale_value, 3);
    return std::string(stage.step);
}

Mark mark_of(const StageChange& change) {
    const bool changed = change.fate == Fate::changed || change.fate == Fate::resized;
    return changed ? Mark::changed : Mark::same;
}

RibbonItem ribbon_item(const AppState& state, Stage stage) {
    const StageInfo& row = info(stage);
    const Sheet sheet = sheet_of(state, stage);
    RibbonItem item;
    item.stage = stage;
    item.label = step_label(state.document(), row);
    if (is_kept(state, stage))
        item.shape = size(sheet.values.rows, sheet.values.columns);
    else if (map_form(state, stage) != MapForm::own)
        item.shape = size(state.document().size.tq, state.document().size.tk);
    else if (!is_empty(state.document()))
        item.shape = "not kept";
    item.tooltip = fmt::format("{}\n{}\n{}", row.title, plain_formula(row),
                               to_string((*state.trace)[stage].shape()));
    item.role = row.role;
    if (const std::string change = change_words(state, stage); !change.empty()) {
        item.tooltip += "\n" + change;
        item.mark = mark_of(*change_of(state, stage));
    }
    item.progress = Progress::ahead;
    if (stage == state.step.stage) item.progress = Progress::current;
    if (stage < state.step.stage) item.progress = Progress::done;
    return item;
}

// ---- operands

GridView operand_grid(const AppState& state, Stage result, const OperandId& id) {
    if (const Param* param = std::get_if<Param>(&id)) return param_grid(state, *param);
    const Stage stage = std::get<Stage>(id);
    if (stage == Stage::context) return joined_grid(state);
    const bool shares_columns = (result == Stage::scores && stage == Stage::k) ||
                                (result == Stage::context && stage == Stage::v);
    return stage_grid(state, stage, shares_columns);
}

void light_sources(GridView& grid, Lights lights, const CellRef& focus) {
    switch (lights) {
        case Lights::same_cell:
            return light(grid, {grid.id, focus.row, focus.column});
        case Lights::same_row:
            return light_row(grid, focus.row);
        case Lights::row_of_column:
            return light_row(grid, focus.column);
        case Lights::column:
            return light_column(grid, focus.column);
    }
}

/// The cell whose sources are lit: the hovered one of the result, else the selected one.
std::optional<CellRef> focus_of(const AppState& state) {
    const StepLook& look = state.step;
    if (look.hovered) {
        if (look.hovered->tensor == OperandId(look.stage)) return look.hovered;
        return std::nullopt;
    }
    if (look.selected && look.selected->tensor == OperandId(look.stage)) return look.selected;
    return std::nullopt;
}

/// A hovered operand cell (or a link to one) is lit itself.
void light_hovered(const AppState& state, GridView& grid) {
    const auto& hovered = state.step.hovered;
    if (hovered && hovered->tensor == grid.id && grid.id != OperandId(state.step.stage))
        light(grid, *hovered);
}

/// All of the matrix whose symbol is under the pointer, and nothing of the others.
void light_operand(const AppState& state, StepView& view) {
    view.lit = state.step.lit;
    if (!view.lit) return;
    const OperandId lit = operand_of(state.document(), state.step.stage, *view.lit);
    std::vector<GridView*> grids{&view.result};
    for (GridView& operand : view.operands) grids.push_back(&operand);
    const auto is_lit = [&](const GridView* grid) { return grid->id == lit; };
    if (std::ranges::none_of(grids, is_lit)) return;
    for (GridView* const grid : grids) grid->lit.assign(grid->cells.size(), is_lit(grid));
}

/// The query whose row is written out: the pointed one, else the selected one, else the first.
Index focused_row(const AppState& state) {
    const auto row_of = [](const std::optional<CellRef>& cell) -> std::optional<Index> {
        if (!cell) return std::nullopt;
        const Stage* const stage = std::get_if<Stage>(&cell->tensor);
        if (stage == nullptr || info(*stage).rows != Axis::query) return std::nullopt;
        return cell->row;
    };
    const StepLook& look = state.step;
    const Index rows = state.document().size.tq;
    return std::min(row_of(look.hovered).value_or(row_of(look.selected).value_or(0)), rows - 1);
}

void put(std::vector<GridView>& grids, GridView grid, Slot slot, std::string action = {}) {
    grid.slot = slot;
    grid.action = std::move(action);
    grids.push_back(std::move(grid));
}

/// The stages of query by key that work on each number or row alone: the focused row of what they start from.
void put_row(std::vector<GridView>& grids, const GridView& whole, Index row, std::string action) {
    put(grids, row_grid(whole, row), Slot::top, std::move(action));
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
        for (const auto& focus : {focus_of(state), state.step.hovered})
            if (focus && grid.id == focus->tensor) light(grid, *focus);
    return canvas;
}

std::string action_of(const AppState& state, Stage stage) {
    if (stage == Stage::weights) return "softmax";
    if (stage == Stage::scaled) return scale_words(state.document());
    if (stage == Stage::dropped)
        return fmt::format("dropout {}", significant(state.document().spec.dropout, 2));
    return {};
}

bool mixes(const Document& document) { return !document.inputs->params[Param::w_o].empty(); }

/// A weight matrix shares its columns with what it makes; in scores a key's row is a column.
Slot slot_of(Stage result, const Operand& operand) {
    if (operand.lights == Lights::column || operand.lights == Lights::row_of_column)
        return Slot::top;
    return result == Stage::context ? Slot::hero : Slot::left;
}

GridView lit_operand(const AppState& state, Stage stage, const Operand& operand, bool copied) {
    const OperandId id = operand_of(state.document(), stage, operand.id);
    GridView grid = operand_grid(state, stage, id);
    const auto focus = focus_of(state);
    if (focus && copied)
        light(grid, {grid.id, focus->row, focus->column + grid.first_column});
    else if (focus)
        light_sources(grid, operand.lights, *focus);
    light_hovered(state, grid);
    return grid;
}

/// Row by row where a stage works on the pairs of query and key alone.
void put_rows(const AppState& state, Stage stage, std::vector<GridView>& canvas) {
    const std::size_t wholes = canvas.size();
    const Index row = focused_row(state);
    for (std::size_t n = 0; n < wholes; ++n) {
        const bool last = n + 1 == wholes;
        put_row(canvas, GridView(canvas[n]), row, last ? action_of(state, stage) : std::string());
    }
    if (stage != Stage::weights && stage != Stage::dropped) return;
    GridView bars = row_grid(stage_grid(state, stage), row);
    bars.as_bars = true;
    put(canvas, std::move(bars), Slot::top);
}

std::vector<GridView> table_canvas(const AppState& state, Stage stage) {
    std::vector<GridView> canvas;
    const bool copied = stage == Stage::output && !mixes(state.document());
    for (const auto& operand : info(stage).operands) {
        if (!operand || (copied && operand->id == OperandId(Param::w_o))) continue;
        if (!is_kept(state, operand_of(state.document(), stage, operand->id))) continue;
        put(canvas, lit_operand(state, stage, *operand, copied), slot_of(stage, *operand));
    }
    if (stage == Stage::masked && is_kept(state, Stage::masked)) {
        put(canvas, mask_grid(state), Slot::left);
        if (const auto focus = focus_of(state)) light(canvas.back(), *focus);
    }
    const bool by_rows = pair_stages()[index_of(stage)] && stage != Stage::scores;
    if (by_rows && is_kept(state, stage)) put_rows(state, stage, canvas);
    return canvas;
}

std::vector<GridView> canvas_of(const AppState& state, Stage stage) {
    if (state.step.show_gradients) return gradient_canvas(state, stage);
    if (stage == Stage::x || stage == Stage::x_kv) return embedding_canvas(state, stage);
    return table_canvas(state, stage);
}

/// The pointed cell's row and column, else the selected one's, and the focused query of whatever has its row.
void focus_grids(const AppState& state, StepView& view) {
    const auto focus = [&](GridView& grid) {
        if (grid.row_role == Role::query && grid.rows > 1 && !grid.transposed)
            grid.focus_row = focused_row(state);
        for (const auto& cell : {state.step.selected, state.step.hovered})
            if (cell) focus_on(grid, *cell);
    };
    focus(view.result);
    for (GridView& grid : view.operands) focus(grid);
}

GridView result_of(const AppState& state, Stage stage) {
    return state.step.show_gradients ? gradient_grid(state, stage) : stage_grid(state, stage);
}

// ---- rows of weights

/// A row of one key has no evenness, which is not the NaN of a row that went wrong.
std::string evenness_text(const RowMetrics& row, Index allowed) {
    return allowed < 2 && !std::isnan(row.entropy) ? "–" : percent(row.evenness);
}

std::vector<Readout> readouts_of(const RowMetrics& row, Index allowed) {
    return {
        {"evenness", "H / ln n", evenness_text(row, allowed),
         "entropy of the row over that of n equal weights: 100 % even, 0 % all on one key; "
         "– where the row may attend to one key only"},
        {"p_max", "max_j a_j", percent(row.max_probability), "the largest weight of the row"},
        {"∂p_max/∂s_max", "p_max (1 − p_max)", cell_number(row.max_slope, 4),
         "∂p_max/∂s_max: how much the largest weight moves with its own scaled score s"},
        {"‖∂a/∂s‖_F", "‖diag(a) − a aᵀ‖_F", cell_number(row.jacobian_frobenius, 4),
         "size of softmax's Jacobian J with respect to its input s, the masked scaled scores: what "
         "is left of the gradient"},
        {"keys", "exp(H)", cell_number(row.effective_keys, 2),
         "effective number of keys attended to"},
    };
}

std::vector<RowReadouts> row_readouts(const AppState& state) {
    const Sheet sheet = sheet_of(state, Stage::weights);
    const std::vector<std::uint8_t> allowed = allowed_pairs(state);
    std::vector<RowReadouts> rows;
    for (Index i = 0; i < sheet.values.rows; ++i) {
        const auto first = allowed.begin() + i * sheet.values.columns;
        const Index count = std::count(first, first + sheet.values.columns, std::uint8_t{1});
        const RowMetrics metrics = row_metrics(sheet.values.row(i), count);
        rows.push_back({sheet.row_labels[static_cast<std::size_t>(i)], readouts_of(metrics, count),
                        metrics.evenness});
    }
    return rows;
}

std::string tips_of(const RowReadouts& row) {
    std::string tips;
    for (const Readout& readout : row.readouts)
        tips += fmt::format("{}{} = {} = {}", tips.empty() ? "" : "\n", readout.label,
                            readout.formula, readout.text);
    return tips;
}

/// Beside each row of weights: how even it is as a bar, its largest weight, and what softmax divided by.
std::vector<SideVector> row_sides(const AppState& state, const StepView& view) {
    const auto column = [&](std::size_t n) {
        const Readout& head = view.rows.front().readouts[n];
        SideVector side{head.label, head.formula + ": " + head.tooltip, {}, Role::weight};
        for (const RowReadouts& row : view.rows) {
            side.cells.push_back(row.readouts[n].text);
            side.cell_tips.push_back(tips_of(row));
        }
        return side;
    };
    if (view.rows.empty()) return {};
    std::vector<SideVector> sides{column(0), column(1)};
    for (const RowReadouts& row : view.rows) sides[0].bars.push_back(row.evenness);
    for (SideVector& side : stage_grid(state, state.step.stage).sides)
        sides.push_back(std::move(side));
    if (!is_kept(state, Stage::masked) || state.step.stage != Stage::weights) return sides;
    for (SideVector& side : stage_grid(state, Stage::masked).sides)
        sides.push_back(std::move(side));
    return sides;
}

// ---- controls and words

ControlsView controls_of(const AppState& state) {
    const Document& document = state.document();
    ControlsView controls;
    controls.presets = state.presets;
    controls.preset = document.name == "custom" ? "" : document.name;
    controls.sentence_draft = state.step.sentence_draft;
    controls.d_model = document.d_model;
    controls.d_k = document.d_k;
    controls.heads = document.size.heads;
    controls.batch = state.batch;
    controls.batches = document.size.batch;
    controls.layer = document.layer;
    controls.layers = static_cast<Index>(document.layers.size());
    controls.title = document.title;
    controls.toy = is_toy(document);
    controls.projects = document.inputs->projects();
    controls.window = document.spec.mask.window;
    controls.tokens = std::max(document.size.tq, document.size.tk);
    controls.head = state.head;
    controls.scaling = document.spec.scale != ScaleKind::none;
    controls.scale_words = factor_words(document);
    controls.model_open = state.step.model_open;
    controls.temperature = document.spec.temperature;
    controls.causal = document.spec.mask.causal.has_value();
    controls.seed = document.seed;
    controls.gradients = state.step.show_gradients;
    controls.loss = build_loss_view(state);
    controls.badge = shortened(document.note, kMostTip);
    controls.head_names = document.head_names;
    return controls;
}

/// The formula as it is here, where the table speaks of the general case.
std::string tex_of(const Document& document, const StageInfo& stage) {
    if (stage.stage == Stage::output) {
        const std::string_view heads =
            document.size.heads == 1 ? R"(\mathrm{context})" : R"(\mathrm{concat}(\mathrm{heads}))";
        return mixes(document) ? fmt::format(R"(Y = {}\,W_O)", heads)
                               : fmt::format(R"(Y = {}\text{{, there is no }} W_O)", heads);
    }
    if (stage.stage == Stage::scaled) return "S = " + tex_scaled(document.spec);
    if (!document.tokens_kv.empty() && stage.stage == Stage::k) return R"(K = X_{kv}\,W_K)";
    if (!document.tokens_kv.empty() && stage.stage == Stage::v) return R"(V = X_{kv}\,W_V)";
    return std::string(stage.tex);
}

/// Whether the canvas shows token vectors as they were given, not word + position.
bool are_given(const AppState& state, Stage stage) {
    return (stage == Stage::x || stage == Stage::x_kv) && is_kept(state, stage) &&
           !is_empty(state.document()) && embedding_grids(state, stage).empty();
}

/// ": same word", what the head shown was built to do; "" where nothing is known.
std::string head_name_words(const AppState& state) {
    const auto& names = state.document().head_names;
    return names.empty() ? "" : ": " + names[static_cast<std::size_t>(state.head)];
}

/// Title and formula; of the gradient where that is what the canvas shows.
void head(const AppState& state, const StageInfo& stage, StepView& view) {
    view.title = stage.title;
    view.tex = tex_of(state.document(), stage);
    if (are_given(state, stage.stage))
        view.tex = tex_symbol(stage.stage) + R"([i] = \text{the numbers of token } i)";
    view.formula = tex::plain_text(view.tex);
    if (state.step.show_gradients) {
        view.title += ": gradient";
        view.tex =
            fmt::format(R"(\frac{{\partial L}}{{\partial {}}}, L = )", tex_symbol(stage.stage));
        view.formula = tex::plain_text(view.tex + tex::text_of(loss_words(state)));
        view.tex += loss_tex(state);
    }
    if (const std::string shown = shown_head_words(state, stage.stage); !shown.empty())
        view.title += ", " + shown + head_name_words(state);
}

/// "1 → 3" at the cell that was just edited.
std::optional<FlashView> flash_of(const AppState& state) {
    const auto& flash = state.step.flash;
    if (!flash) return std::nullopt;
    const double left = 1.0 - flash->age_s / kFlashSeconds;
    return FlashView{
        flash->cell,
        fmt::format("{} → {}", significant(flash->before, 4), significant(flash->after, 4)),
        state.reduced_motion ? 1.0 : std::clamp(left, 0.0, 1.0)};
}

std::string hint_of(const AppState& state) {
    if (is_empty(state.document())) return std::string(kEmptyHint);
    return state.step.stepped_once ? "" : std::string(kFirstHint);
}

std::string reason_not_kept(const AppState& state, Stage stage) {
    if (const std::string reason = step_lacks(state); !reason.empty()) return reason;
    if (!(*state.trace)[stage].empty()) return {};
    return fmt::format("The backend {} does not keep this stage ({}).", state.backend_used,
                       info(stage).symbol);
}

}  // namespace

StepView build_step_view(const AppState& state) {
    const Stage stage = state.step.stage;
    StepView view;
    for (const Stage on_ribbon : ribbon_stages(state.document()))
        view.ribbon.push_back(ribbon_item(state, on_ribbon));
    head(state, info(stage), view);
    view.words = words_of(state, stage);
    view.hint = hint_of(state);
    view.controls = controls_of(state);
    view.flash = flash_of(state);
    view.map = map_form(state, stage) != MapForm::own;
    if (view.map) return view;
    view.unavailable = reason_not_kept(state, stage);
    if (!view.unavailable.empty()) return view;
    view.operands = canvas_of(state, stage);
    view.result = result_of(state, stage);
    if (!view.operands.empty() && view.operands[0].slot == Slot::hero)
        view.result.slot = Slot::right;
    const Document& document = state.document();
    view.queries = axis_labels(document, Axis::query, document.size.tq);
    view.keys = axis_labels(document, Axis::key, document.size.tk);
    focus_grids(state, view);
    light_operand(state, view);
    view.fade = state.step.fade;
    if (view.fade < 1.0) view.previous = result_of(state, state.step.previous);
    const bool weighs = stage == Stage::weights || stage == Stage::dropped;
    if (!weighs || state.step.show_gradients) return view;
    view.rows = row_readouts(state);
    view.result.sides = row_sides(state, view);
    return view;
}

}  // namespace attn::view
