#include "app/view/step/view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/common/words.h"
#include "app/view/step/grids.h"
#include "app/view/step/workspace.h"
#include "core/metrics.h"
#include "core/text.h"

namespace attn::view {
namespace {

constexpr std::string_view kFirstHint =
    "Press → to compute the next stage. Click any number to see where it comes from.";
constexpr std::string_view kEmptyHint = "Type a sentence and press Enter.";

struct Canvas {
    std::vector<GridView> operands;
    std::vector<std::string> operators;
};

/// "÷ √4 = 2", "× 0.5", "as they are", with the temperature when it is not 1.
std::string scale_words(const Document& document) {
    const AttentionSpec& spec = document.spec;
    std::string words = "not scaled";
    if (spec.scale == ScaleKind::sqrt_dk)
        words = fmt::format("÷ √{} = {}", document.d_k,
                            significant(std::sqrt(static_cast<double>(document.d_k)), 4));
    if (spec.scale == ScaleKind::value) words = "× " + significant(spec.scale_value, 4);
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

RibbonItem ribbon_item(const AppState& state, Stage stage) {
    const StageInfo& row = info(stage);
    const Sheet sheet = sheet_of(state, stage);
    RibbonItem item;
    item.stage = stage;
    item.label = step_label(state.document(), row);
    if (is_kept(state, stage))
        item.shape = size(sheet.values.rows, sheet.values.columns);
    else if (!is_empty(state.document()))
        item.shape = "not kept";
    item.tooltip =
        fmt::format("{}\n{}\n{}", row.title, row.formula, to_string((*state.trace)[stage].shape()));
    item.role = row.role;
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
    return stage_grid(state, stage, result == Stage::scores && stage == Stage::k);
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

Canvas embedding_canvas(const AppState& state, Stage stage) {
    Canvas canvas{embedding_grids(state, stage), {}};
    if (canvas.operands.empty()) return canvas;
    canvas.operators = {"+", "="};
    for (GridView& grid : canvas.operands)
        if (const auto focus = focus_of(state)) light(grid, *focus);
    return canvas;
}

/// The stage's value beside its gradient: no product, so an arrow.
Canvas gradient_canvas(const AppState& state, Stage stage) {
    Canvas canvas;
    canvas.operands.push_back(stage_grid(state, stage));
    canvas.operators = {"→"};
    if (const auto focus = focus_of(state)) light(canvas.operands[0], *focus);
    return canvas;
}

std::string operator_after(const AppState& state, Stage stage, bool last) {
    if (!last) return stage == Stage::masked ? "∧" : "×";
    if (stage == Stage::weights) return "softmax →\nm_i = max_j M[i,j]";
    if (stage == Stage::scaled) return scale_words(state.document()) + " →";
    if (stage == Stage::dropped)
        return fmt::format("dropout {} →", significant(state.document().spec.dropout, 2));
    return "=";
}

bool mixes(const Document& document) { return !document.inputs->params[Param::w_o].empty(); }

bool are_operands_kept(const AppState& state, Stage stage) {
    return std::ranges::all_of(info(stage).operands, [&](const auto& operand) {
        return !operand || is_kept(state, operand_of(state.document(), stage, operand->id));
    });
}

Canvas table_canvas(const AppState& state, Stage stage) {
    Canvas canvas;
    const auto focus = focus_of(state);
    const bool copied = stage == Stage::output && !mixes(state.document());
    for (const auto& operand : info(stage).operands) {
        if (!operand || (copied && operand->id == OperandId(Param::w_o))) continue;
        const OperandId id = operand_of(state.document(), stage, operand->id);
        if (!is_kept(state, id)) continue;
        GridView grid = operand_grid(state, stage, id);
        if (focus && copied)
            light(grid, {grid.id, focus->row, focus->column + grid.first_column});
        else if (focus)
            light_sources(grid, operand->lights, *focus);
        light_hovered(state, grid);
        canvas.operands.push_back(std::move(grid));
    }
    if (stage == Stage::masked && is_kept(state, Stage::masked)) {
        canvas.operands.push_back(mask_grid(state));
        if (focus) light(canvas.operands.back(), *focus);
    }
    if (!are_operands_kept(state, stage)) {  // no product is shown without its factors
        canvas.operators.assign(canvas.operands.size(), "→");
        return canvas;
    }
    for (std::size_t n = 0; n < canvas.operands.size(); ++n)
        canvas.operators.push_back(operator_after(state, stage, n + 1 == canvas.operands.size()));
    return canvas;
}

Canvas canvas_of(const AppState& state, Stage stage) {
    if (state.step.show_gradients) return gradient_canvas(state, stage);
    if (stage == Stage::x || stage == Stage::x_kv) return embedding_canvas(state, stage);
    return table_canvas(state, stage);
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
        rows.push_back({sheet.row_labels[static_cast<std::size_t>(i)],
                        readouts_of(row_metrics(sheet.values.row(i), count), count)});
    }
    return rows;
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
    controls.scale_words = scale_words(document);
    controls.temperature = document.spec.temperature;
    controls.causal = document.spec.mask.causal.has_value();
    controls.seed = document.seed;
    controls.gradients = state.step.show_gradients;
    controls.badge = shortened(document.note, kMostTip);
    return controls;
}

/// What the stage is called here, where the table speaks of the general case.
std::string formula_of(const Document& document, const StageInfo& stage) {
    if (stage.stage == Stage::output) {
        const std::string_view heads = document.size.heads == 1 ? "context" : "concat(heads)";
        return mixes(document) ? fmt::format("Y = {} W_O", heads)
                               : fmt::format("Y = {}, there is no W_O", heads);
    }
    if (!document.tokens_kv.empty() && stage.stage == Stage::k) return "K = X_kv W_K";
    if (!document.tokens_kv.empty() && stage.stage == Stage::v) return "V = X_kv W_V";
    return std::string(stage.formula);
}

/// Whether the canvas shows token vectors as they were given, not word + position.
bool are_given(const AppState& state, Stage stage) {
    return (stage == Stage::x || stage == Stage::x_kv) && is_kept(state, stage) &&
           !is_empty(state.document()) && embedding_grids(state, stage).empty();
}

/// Title and formula; of the gradient where that is what the canvas shows.
void head(const AppState& state, const StageInfo& stage, StepView& view) {
    view.title = stage.title;
    view.formula = formula_of(state.document(), stage);
    if (are_given(state, stage.stage))
        view.formula = fmt::format("{}[i] = the numbers of token i", stage.symbol);
    if (state.step.show_gradients) {
        view.title += ": gradient";
        view.formula = fmt::format("∂L/∂{}, L = Σ output", stage.symbol);
    }
    if (const std::string shown = shown_head_words(state, stage.stage); !shown.empty())
        view.title += ", " + shown;
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

std::string words_of(const AppState& state, Stage stage) {
    const Document& document = state.document();
    if (state.step.show_gradients)
        return "How much the sum of all outputs grows when one of these numbers grows a little.";
    if (are_given(state, stage))
        return is_toy(document)
                   ? "Each token is a row of numbers. These are set by hand: change any of them."
                   : "Each token is a row of numbers. These stand in the file: change any of them.";
    if (stage == Stage::scaled && document.spec.scale == ScaleKind::none)
        return "Scaling is off: the scores go to softmax as they are, and grow with √d_k.";
    if (stage == Stage::masked && !document.spec.mask.any())
        return "There is no mask: every query may attend to every key.";
    if (stage == Stage::output && !mixes(document))
        return document.size.heads == 1 ? "There is no W_O: the output is the context."
                                        : "There is no W_O: the output is the joined context.";
    if (stage == Stage::output && document.size.heads == 1)
        return "W_O mixes the context: one new vector for each token.";
    return std::string(info(stage).words);
}

StepView build_step_view(const AppState& state) {
    const Stage stage = state.step.stage;
    StepView view;
    for (const Stage on_ribbon : ribbon_stages(state.document()))
        view.ribbon.push_back(ribbon_item(state, on_ribbon));
    head(state, info(stage), view);
    view.words = words_of(state, stage);
    view.hint = hint_of(state);
    view.controls = controls_of(state);
    view.unavailable = reason_not_kept(state, stage);
    if (!view.unavailable.empty()) return view;
    Canvas canvas = canvas_of(state, stage);
    view.operands = std::move(canvas.operands);
    view.operators = std::move(canvas.operators);
    view.result = result_of(state, stage);
    view.fade = state.step.fade;
    if (view.fade < 1.0) view.previous = result_of(state, state.step.previous);
    const bool weighs = stage == Stage::weights || stage == Stage::dropped;
    if (weighs && !state.step.show_gradients) view.rows = row_readouts(state);
    return view;
}

}  // namespace attn::view
