#include "app/workspaces/step/view.h"

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/document/effect.h"
#include "app/common/document/first_nan.h"
#include "app/common/document/mask_rules.h"
#include "app/common/document/opened.h"
#include "app/common/format.h"
#include "app/common/state.h"
#include "app/common/text.h"
#include "app/workspaces/step/attention_text.h"
#include "app/workspaces/step/grids.h"
#include "app/workspaces/step/map.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view_parts.h"
#include "core/given.h"
#include "core/large/map_input.h"
#include "core/metrics.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/tex.h"
#include "core/text.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::string_view kFirstHint = "Click any number to see where it comes from.";
constexpr std::string_view kEmptyHint = "Type a sentence and press Enter.";

// ---- ribbon

std::string step_label(const Document& document, const StageInfo& stage) {
    if (stage.stage == Stage::scores && document.spec.score != Score::dot) return "scores";
    const bool scaled = document.spec.scale == ScaleKind::q_and_k;
    const bool normed = document.spec.qk_norm.has_value();
    if (stage.stage == Stage::scores && (document.spec.rope || normed || scaled))
        return fmt::format("{}{}",
                           document.spec.rope ? "Q′K′ᵀ"
                           : normed           ? "QⁿKⁿᵀ"
                                              : "QKᵀ",
                           scaled ? "÷√d_k" : "");
    if (stage.stage != Stage::scaled) return std::string(stage.step);
    const double tau = document.spec.temperature;
    const std::string warm = tau == 1.0 ? "" : "÷" + significant(tau, 3);
    if (document.spec.scale == ScaleKind::none || scaled) return warm.empty() ? "÷1" : warm;
    const std::string factor = document.spec.scale == ScaleKind::value
                                   ? "×" + significant(document.spec.scale_value, 3)
                                   : std::string(stage.step);
    return warm.empty() ? factor : factor + " " + warm;
}

/// One stage of the ribbon, with its mark after an edit.
RibbonItem ribbon_item(const AppState& state, Stage stage) {
    const StageInfo& row = info(stage);
    const Shape shape = (*state.trace)[stage].shape();
    RibbonItem item;
    item.stage = stage;
    item.label = step_label(state.document(), row);
    if (is_stored_stage(state, stage))
        item.shape = size(shape.t, shape.d);
    else if (map_form(state, stage) != MapForm::own)
        item.shape = size(state.document().size.tq, state.document().size.tk);
    else if (!is_empty(state.document()))
        item.shape = "not kept";
    item.tooltip =
        fmt::format("{}\n{}\n{}", row.title,
                    tex::plain_text(forward_formula(state.document(), stage)), to_string(shape));
    item.role = row.role;
    if (const std::string change = change_text(state, stage); !change.empty()) {
        item.tooltip += "\n" + change;
        const Fate fate = change_of(state, stage)->fate;
        item.mark = fate == Fate::same || fate == Fate::cannot ? Mark::same : Mark::changed;
    }
    item.progress = stage == state.stage  ? Progress::current
                    : stage < state.stage ? Progress::done
                                          : Progress::ahead;
    return item;
}

/// An end of the ribbon: the part of the whole transformer before attention, or after it.
RibbonItem place_item(const AppState& state, ModelPlace place) {
    RibbonItem item;
    item.place = place;
    item.progress = Progress::ahead;
    const bool input = place == ModelPlace::input;
    item.stage = input ? Stage::x : Stage::output;
    item.role = info(item.stage).role;
    item.label = input ? "tokens" : "MLP";
    item.tooltip = fmt::format(
        "{}\nShows layer {} in the whole transformer. Key: {}",
        input ? "Where the input of attention comes from" : "What follows the output of attention",
        state.document().layer, input ? "Shift+W" : "W");
    return item;
}

/// Marks tell changed stages from others: where all are changed, or none, they tell nothing.
void drop_useless_marks(std::vector<RibbonItem>& ribbon) {
    const auto count = [&](Mark mark) {
        return std::ranges::count(ribbon, mark, &RibbonItem::mark);
    };
    if (count(Mark::changed) > 0 && count(Mark::same) > 0) return;
    for (RibbonItem& item : ribbon) item.mark = Mark::none;
}

bool is_marked(const std::vector<RibbonItem>& ribbon) {
    return std::ranges::count(ribbon, Mark::changed, &RibbonItem::mark) > 0;
}

std::vector<RibbonItem> ribbon_of(const AppState& state) {
    std::vector<RibbonItem> ribbon;
    const bool ends = has_model_place(state);
    if (ends) ribbon.push_back(place_item(state, ModelPlace::input));
    for (const Stage stage : ribbon_stages(state.document()))
        ribbon.push_back(ribbon_item(state, stage));
    drop_useless_marks(ribbon);
    if (ends) ribbon.push_back(place_item(state, ModelPlace::output));
    return ribbon;
}

// ---- controls

std::string operand_text(const Document& document) {
    return fmt::format("q, k × {}^(−¼) = {}", document.d_k,
                       significant(operand_factor(document.spec, document.d_k), 4));
}

/// "÷ √4 = 2", "× 0.5", "not scaled": without the temperature.
std::string factor_text(const Document& document) {
    if (!document.given.empty() && is_empty(document))
        return fmt::format("{} given", info(document.given.front()->stage).key);
    const AttentionSpec& spec = document.spec;
    std::string text = "not scaled";
    if (spec.scale == ScaleKind::sqrt_dk)
        text = fmt::format("÷ √{} = {}", document.d_k,
                           significant(std::sqrt(static_cast<double>(document.d_k)), 4));
    if (spec.scale == ScaleKind::value) text = "× " + significant(spec.scale_value, 4);
    if (spec.scale == ScaleKind::q_and_k) text = operand_text(document);
    return text;
}

/// "0: previous token, 1: first token": what each head was built to do.
std::string heads_text(const Document& document) {
    std::string text;
    for (Index head = 0; const std::string& name : document.head_names) {
        text += fmt::format("{}{}: {}", head == 0 ? "" : ", ", head, name);
        ++head;
    }
    return text;
}

/// The masks and the fields of the call that the panel sets.
void add_call(const AppState& state, ControlsView& controls) {
    const Document& document = state.document();
    const MaskSpec& mask = document.spec.mask;
    controls.causal = mask.causal.has_value();
    controls.window = mask.window_left || mask.window_right ? std::nullopt : mask.window;
    controls.windowed = mask.windowed();
    controls.window_text = controls.windowed == controls.window.has_value()
                               ? "window"
                               : "left and right window, see Masks";
    if (!mask.padding.empty()) controls.padding = mask.padding[state.batch];
    controls.call = call_of(document);
    for (const ScoreInfo& row : score_table()) controls.score_titles.emplace_back(row.title);
    for (const CallField& field : call_fields())
        if (field.counts(controls.call) &&
            call_field_unavailable(document, field.field->name).empty())
            controls.call_fields.push_back(field);
}

/// The note: "T5 cross, trained weights: 3 layers, …" of two stacks, which of them stands first.
std::string badge_text(const Document& document) {
    std::string text = document.note;
    if (!document.groups.empty())
        text.insert(std::min(text.find(','), text.size()), " " + group_of(document));
    return text;
}

ControlsView controls_of(const AppState& state) {
    const Document& document = state.document();
    ControlsView controls;
    controls.presets = state.presets;
    controls.preset = document.name == "custom" ? "" : document.name;
    controls.sentence_draft = state.sentence_draft;
    controls.d_model = document.d_model;
    controls.d_k = document.d_k;
    controls.heads = document.size.heads;
    controls.batch = state.batch;
    controls.batches = document.size.batch;
    controls.layer = document.layer;
    controls.layers = static_cast<Index>(document.layers.size());
    controls.title = document.title;
    controls.toy = is_toy(document);
    controls.reads_image = reads_image(document);
    controls.reads_text = model_of(document) != nullptr && !controls.reads_image;
    controls.vocabulary = vocabulary_of(state);
    controls.groups = groups_view(state);
    controls.projects = document.inputs->projects();
    controls.tokens = std::max(document.size.tq, document.size.tk);
    controls.head = state.head;
    controls.scaling = document.spec.scale != ScaleKind::none;
    controls.scale_description = factor_text(document);
    if (document.spec.scale == ScaleKind::q_and_k)
        controls.scale_widest = "q, k × 8888^(−¼) = 0.8888";
    if (is_empty(document)) controls.scale_widest = controls.scale_description;
    controls.model_open = step_look(state).model_open;
    controls.temperature = document.spec.temperature;
    controls.seed = document.seed;
    controls.gradients = state.show_gradients;
    controls.loss = build_loss_view(state);
    controls.badge = shortened(badge_text(document), kMostTip);
    controls.heads_text = heads_text(document);
    add_call(state, controls);
    return controls;
}

// ---- rows of weights

/// A row of one key has no evenness, which is not the NaN of a row that went wrong.
std::string evenness_text(const RowMetrics& row, Index allowed) {
    return allowed < 2 && !std::isnan(row.entropy) ? "–" : percent(row.evenness);
}

std::vector<Readout> readouts_of(const RowMetrics& row, Index allowed, bool sinks) {
    const std::string evenness =
        "entropy of the row divided by ln n: 100 % for equal weights, 0 % for one key; “–” where "
        "the row may attend to fewer than two keys";
    return {
        {"evenness", "H / ln n", evenness_text(row, allowed),
         sinks ? evenness + "; for the keys' weights divided by their sum, without the sink"
               : evenness},
        {"p_max", "max_j a_j", percent(row.max_probability), "the largest weight of the row"},
        {"∂p_max/∂s_max", "p_max (1 − p_max)", cell_number(row.max_slope, 4),
         "∂p_max/∂s_max: how much the largest weight changes with its own logit s"},
        {"‖∂a/∂s‖_F", "‖diag(a) − a aᵀ‖_F", cell_number(row.jacobian_frobenius, 4),
         "norm of softmax's Jacobian J with respect to its logits s: how much gradient passes"},
        {"keys", "exp(H)", cell_number(row.effective_keys, 2),
         "effective number of keys attended to"},
    };
}

std::string tips_of(const RowReadouts& row) {
    std::string tips;
    for (const Readout& readout : row.readouts)
        tips += fmt::format("{}{} = {} = {}", tips.empty() ? "" : "\n", readout.label,
                            readout.formula, readout.text);
    return tips;
}

/// Of a row with a sink: entropy and what follows from it are of the keys' shares alone.
RowMetrics metrics_of(std::span<const float> row, Index allowed, bool sinks) {
    RowMetrics metrics = row_metrics(row, allowed);
    const double sum = std::accumulate(row.begin(), row.end(), 0.0);
    if (!sinks || sum == 0.0) return metrics;
    std::vector<double> of_keys(row.begin(), row.end());
    for (double& weight : of_keys) weight /= sum;
    const RowMetrics keys = row_metrics(of_keys, allowed);
    metrics.entropy = keys.entropy;
    metrics.evenness = keys.evenness;
    metrics.effective_keys = keys.effective_keys;
    return metrics;
}

std::vector<RowReadouts> row_readouts(const AppState& state) {
    const bool sinks = has_sinks(state.document());
    const Sheet sheet = sheet_of(state, Stage::weights);
    const std::vector<std::uint8_t> allowed = allowed_pairs(state);
    std::vector<RowReadouts> rows;
    for (Index i = 0; i < sheet.values.rows; ++i) {
        const auto first = allowed.begin() + i * sheet.values.columns;
        const Index count = std::count(first, first + sheet.values.columns, std::uint8_t{1});
        const RowMetrics metrics = metrics_of(sheet.values.row(i), count, sinks);
        rows.push_back({sheet.row_labels[i], readouts_of(metrics, count, sinks), metrics.evenness});
    }
    return rows;
}

/// Beside each row of weights: how even it is as a bar, its largest weight, and what softmax divided by.
std::vector<SideVector> row_sides(const AppState& state, const StepView& view) {
    std::vector<std::string> changes = entropy_changes(state);
    changes.resize(view.rows.size());
    const auto column = [&](std::size_t n) {
        const Readout& head = view.rows.front().readouts[n];
        SideVector side{head.label, head.formula + ": " + head.tooltip, {}, Role::weight};
        for (const RowReadouts& row : view.rows) {
            const std::string& change = changes[side.cells.size()];
            side.cells.push_back(row.readouts[n].text);
            side.cell_tips.push_back(tips_of(row) + (change.empty() ? "" : "\n" + change));
        }
        return side;
    };
    if (view.rows.empty()) return {};
    std::vector<SideVector> sides{column(0), column(1)};
    for (std::size_t n = 0; n < view.rows.size(); ++n) {
        const double evenness = view.rows[n].evenness;
        sides[0].bars.push_back(evenness);
        if (!std::isfinite(evenness)) continue;
        std::string& cell = sides[0].cells[n];
        cell = cell_number(evenness, 2);
        if (cell.starts_with("0.")) cell.erase(0, 1);
    }
    for (SideVector& side : stage_grid(state, state.stage).sides) sides.push_back(std::move(side));
    if (has_sinks(state.document()))  // Σ first: what the sink leaves
        std::ranges::rotate(sides, sides.begin() + 2);
    if (!is_stored_stage(state, Stage::masked) || state.stage != Stage::weights) return sides;
    for (SideVector& side : stage_grid(state, Stage::masked).sides)
        sides.push_back(std::move(side));
    return sides;
}

// ---- title and formula

/// ": same word", what the head shown was built to do; "" where nothing is known.
std::string head_name_text(const AppState& state) {
    const auto& names = state.document().head_names;
    return names.empty() ? "" : ": " + names[state.head];
}

/// Title and formula; of the gradient where that is what the canvas shows.
void head(const AppState& state, const StageInfo& stage, StepView& view) {
    view.title = stage.title;
    view.tex = forward_formula(state.document(), stage.stage);
    view.formula = tex::plain_text(view.tex);
    if (state.show_gradients) {
        view.title += ": gradient";
        view.tex = gradient_formula(state, stage.stage) + ", L = ";
        view.formula = tex::plain_text(view.tex + tex::text_of(loss_text(state)));
        view.tex += loss_tex(state);
    }
    if (const std::string shown = shown_head_text(state, stage.stage); !shown.empty())
        view.title += ", " + shown + head_name_text(state);
}

/// The row under the pointer holds numbers.
bool points_at_numbers(const AppState& state) {
    const auto cell = hovered_weight(state);
    if (!cell) return false;
    const auto row = sheet_of(state, state.stage).values.row(cell->row);
    return std::ranges::none_of(row, [](float weight) { return std::isnan(weight); });
}

/// What the row that is looked at attends to, where the canvas shows weights; the first NaN of an input before that.
void headline(const AppState& state, StepView& view) {
    const std::string nan = first_nan_text(state);
    if (!nan.empty() && !state.show_gradients && !is_guessing(state) && !points_at_numbers(state)) {
        view.headline = {{nan}};
        view.headline_tip = nan;
        view.headline_warns = true;
        return;
    }
    const bool weighs = state.stage == Stage::weights || state.stage == Stage::dropped;
    if (!weighs || state.show_gradients || is_guessing(state) ||
        !is_stored_stage(state, state.stage))
        return;
    const Index row = focused_row(state);
    view.headline = attention_headline(state, row);
    view.headline_tip = attention_text(state, row);
}

/// "1 → 3" at the cell that was just edited.
std::optional<FlashView> flash_of(const AppState& state) {
    const auto& flash = step_look(state).flash;
    if (!flash) return std::nullopt;
    const double left = 1.0 - flash->age_s / kFlashSeconds;
    return FlashView{
        flash->cell,
        fmt::format("{} → {}", significant(flash->before, 4), significant(flash->after, 4)),
        state.reduced_motion ? 1.0 : std::clamp(left, 0.0, 1.0)};
}

std::string hint_of(const AppState& state) {
    if (is_empty(state.document()))
        return is_toy(state.document()) ? std::string(kEmptyHint) : empty_text(state.document());
    const StepLook& look = step_look(state);
    return look.stepped_once || look.start_buttons ? "" : std::string(kFirstHint);
}

/// What a file stores of this stage, or of one before it, is not what is shown here.
std::string stored_text(const Document& document, Stage stage) {
    if (document.given.empty() || is_empty(document)) return {};
    const Stage stored = document.given.front()->stage;
    if (stage < stored) return {};
    return fmt::format(" Recomputed here: the {} in the file differ; Heads shows them.",
                       stored == Stage::weights ? "weights" : "scores");
}

std::string reason_not_stored(const AppState& state, Stage stage) {
    if (const std::string reason = step_missing_data(state); !reason.empty()) return reason;
    if (!(*state.trace)[stage].empty()) return {};
    return fmt::format("The backend {} does not store this stage ({}).", state.backend_used,
                       info(stage).symbol);
}

}  // namespace

std::string scale_description(const Document& document) {
    const AttentionSpec& spec = document.spec;
    const bool before = spec.scale == ScaleKind::q_and_k;
    std::string text = before ? "scaled before" : factor_text(document);
    if (spec.temperature != 1.0) text += ", ÷ " + significant(spec.temperature, 4);
    return text;
}

StepView build_step_view(const AppState& state) {
    const Stage stage = state.stage;
    StepView view;
    view.ribbon = ribbon_of(state);
    head(state, info(stage), view);
    headline(state, view);
    if (const std::string stated = read_out_text(state.document()); !stated.empty())
        view.read_out = sentence(stated);
    view.text = is_guessing(state) ? "" : description_of(state, stage);
    if (!view.text.empty()) view.text += stored_text(state.document(), stage);
    if (!view.text.empty() && is_marked(view.ribbon)) view.text += " ● changed by your edit.";
    if (const std::string unknown = unknown_tokens_text(state); !unknown.empty())
        view.text = sentence(unknown);
    if (is_empty(state.document()) &&
        !is_toy(state.document()))  // of what is not there nothing is said
        view.text = view.tex = view.formula = "";
    if (const AnswerLook* const answer = shown_answer(state)) view.answer = *answer;
    view.hint = hint_of(state);
    view.start_buttons =
        step_look(state).start_buttons && !state.presenter && !view.headline.empty();
    if (view.start_buttons) view.offered = offered_text(state.document());
    view.has_tour = !state.tours.empty();
    view.controls = controls_of(state);
    view.flash = flash_of(state);
    view.map = map_form(state, stage) != MapForm::own;
    if (view.map) return view;
    view.unavailable = reason_not_stored(state, stage);
    if (!view.unavailable.empty()) return view;
    if (const auto cells = stage_cells(state)) {
        const auto& at = state.selected;
        const bool here = at && at->tensor == OperandId(stage);
        view.cells = cells_view(state, cells,
                                {here ? large::Cell{at->row, at->column} : large::Cell{-1, -1}});
        return view;
    }
    view.operands = canvas_of(state, stage);
    view.result = result_of(state, stage);
    const Document& document = state.document();
    view.queries = axis_labels(state, Axis::query, document.size.tq);
    view.keys = axis_labels(state, Axis::key, document.size.tk);
    focus_grids(state, view);
    if (const auto cell = hovered_weight(state)) view.result.selected = {cell->row, cell->column};
    light_operand(state, view);
    view.fade = step_look(state).fade;
    if (view.fade < 1.0) view.previous = result_of(state, step_look(state).previous);
    const bool weighs = stage == Stage::weights || stage == Stage::dropped;
    if (!weighs || state.show_gradients) return view;
    view.rows = row_readouts(state);
    view.result.sides = row_sides(state, view);
    if (stage == Stage::weights) view.sentence = build_sentence_view(state);
    return view;
}

}  // namespace attn::view
