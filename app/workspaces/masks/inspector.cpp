#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/common/document/document.h"
#include "app/common/document/mask_rules.h"
#include "app/common/explain/expr.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/masks/conventions.h"
#include "app/workspaces/masks/long.h"
#include "app/workspaces/masks/view.h"
#include "core/bias.h"
#include "core/masks.h"
#include "core/note.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// One row of the document's own attention, in the order of its arithmetic.
struct Row {
    std::vector<double> scores, masked, exps, weights;
    std::vector<std::uint8_t> allowed;
    std::optional<double> sink;
    double max = 0.0, sum = 0.0;
};

/// nullopt where a stage is not kept.
std::optional<Row> row_of(const AppState& state) {
    const Document& document = state.document();
    const Index i = masks_look(state).pair.query;
    const auto scores = unmasked_scores(state);
    const auto masked = masks_values(state, Stage::masked);
    const auto weights = masks_values(state, Stage::weights);
    if (scores.rows <= i || masked.rows <= i || weights.rows <= i) return std::nullopt;
    const auto copied = [&](const MatrixView<const float>& from) {
        return std::vector<double>(from.row(i).begin(), from.row(i).end());
    };
    Row row{copied(scores), copied(masked), {}, copied(weights), {}, {}};
    row.allowed.resize(row.scores.size());
    fill_allowed(document.spec.mask, document.size, state.batch, state.head, i, row.allowed);
    const Tensor& sinks = document.inputs->params[Param::sinks];
    if (!sinks.empty()) row.sink = sinks(0, 0, 0, state.head);
    row.max = row.sink.value_or(-HUGE_VAL);
    for (const double m : row.masked) row.max = std::isnan(m) ? m : std::max(row.max, m);
    row.sum = row.sink ? std::exp(*row.sink - row.max) : 0.0;
    for (const double m : row.masked) row.sum += row.exps.emplace_back(std::exp(m - row.max));
    return row;
}

bool is_empty(const Row& row) { return std::ranges::count(row.allowed, 1) == 0; }

/// What the mask is laid over: B with a soft cap or ALiBi, else S.
std::string score_symbol(const AppState& state) {
    return std::string(info(stage_or_source(Stage::biased, state.document().spec)).symbol);
}

InspectorTable table_of(const AppState& state, const Row& row) {
    const auto labels = axis_labels(state, Axis::key, state.document().size.tk);
    const bool empty = is_empty(row) && !row.sink;
    InspectorTable table{"",
                         "key",
                         {{score_symbol(state), Role::score, true},
                          {"M", Role::score},
                          {"exp", {}},
                          {"A", Role::weight}},
                         {},
                         std::nullopt};
    const auto scores = column_texts(row.scores);
    const auto masked = column_texts(row.masked);
    const auto exps = column_texts(row.exps);
    const auto weights = column_texts(row.weights);
    double total = 0.0;
    for (std::size_t j = 0; j < labels.size(); ++j) {
        TableRow line{labels[j], {}};
        line.cells = {{scores[j], {}, {}},
                      {masked[j], {}, {}},
                      {empty ? "" : exps[j], {}, {}},
                      {weights[j], Role::weight, {}}};
        line.chosen = static_cast<Index>(j) == masks_look(state).pair.key;
        line.muted = row.allowed[j] == 0;
        if (std::isfinite(row.weights[j])) line.bar = std::clamp(row.weights[j], 0.0, 1.0);
        total += row.weights[j];
        table.rows.push_back(std::move(line));
    }
    table.total =
        TableRow{"Σ", {{}, {}, {empty ? "" : number(row.sum), {}, {}}, {number(total), {}, {}}}};
    return table;
}

void add_rules(const AppState& state, InspectorView& view) {
    for (const RuleVerdict& verdict : rule_verdicts(state, masks_look(state).pair))
        view.add(fmt::format("{} {}", verdict.name, verdict.allows ? "allows" : "forbids"),
                 verdict.text);
    if (view.lines.empty()) view.add("no rule is set", "every pair is allowed");
}

/// Score, masked score, share of exp and weight of the pair.
void add_arithmetic(const AppState& state, const Row& row, InspectorView& view) {
    const auto j = static_cast<std::size_t>(masks_look(state).pair.key);
    const bool allowed = row.allowed[j] != 0;
    const std::string symbol = score_symbol(state);
    const Pair& pair = masks_look(state).pair;
    if (state.document().spec.mask.bias)
        view.add("bias",
                 number(bias_at(state.document().spec.mask, state.batch, state.head, pair.query,
                                pair.key)),
                 Role::score);
    view.add("score " + symbol, number(row.scores[j]), Role::score);
    view.add("masked M", allowed ? symbol + " = " + number(row.masked[j]) : "−∞, forbidden",
             Role::score);
    if (is_empty(row) && !row.sink)
        return view.add(
            "weight A",
            fmt::format("{}: every key is forbidden, and empty rows give {}",
                        number(row.weights[j]),
                        state.document().spec.empty_rows == EmptyRows::nan ? "NaN" : "0"),
            Role::weight);
    if (!allowed && std::isnan(row.sum))
        return view.add("weight A", number(row.weights[j]) + ": the pair is forbidden",
                        Role::weight);
    view.add("exp(M − m)", fmt::format("exp({} − {}) = {}", number(row.masked[j]),
                                       factor(number(row.max)), number(row.exps[j])));
    view.add(row.sink ? "Σ exp, including the sink" : "Σ exp", number(row.sum));
    view.add(
        "weight A",
        fmt::format("{} ÷ {} = {}", number(row.exps[j]), number(row.sum), number(row.weights[j])),
        Role::weight);
}

std::string latex_of(const Row& row, Index key) {
    const auto j = static_cast<std::size_t>(key);
    return fmt::format(
        "A_{{i{}}} = \\frac{{\\exp(M - m)}}{{\\sum_j \\exp(M_j - m){}}} = \\frac{{{}}}{{{}}} = {}",
        key, row.sink ? " + \\exp(\\mathrm{sink} - m)" : "",
        write_number(row.exps[j], Dialect::latex), write_number(row.sum, Dialect::latex),
        write_number(row.weights[j], Dialect::latex));
}

std::string python_of(const Row& row, const std::string& symbol, Index key) {
    std::vector<std::string> scores;
    for (const double score : row.scores) scores.push_back(write_number(score, Dialect::python));
    const std::string sink = row.sink ? write_number(*row.sink, Dialect::python) : "";
    return fmt::format(
        "import numpy as np\n\n{0} = np.array([{1}])\nallowed = np.array([{2}], dtype=bool)\n"
        "M = np.where(allowed, {0}, -np.inf)\nm = {3}\ne = np.exp(M - m)\n"
        "A = e / {4}\nprint(A[{5}])\n",
        symbol, fmt::join(scores, ", "), fmt::join(row.allowed, ", "),
        row.sink ? fmt::format("max(M.max(), {})", sink) : "M.max()",
        row.sink ? fmt::format("(e.sum() + np.exp({} - m))", sink) : "e.sum()", key);
}

InspectorView inspect_mask(const AppState& state) {
    const Document& document = state.document();
    const Pair& pair = masks_look(state).pair;
    InspectorView view;
    view.empty = false;
    view.title = pair_name(state, masks_look(state).pair);
    view.role = Role::weight;
    const bool allowed = may_attend(document.spec.mask, document.size, state.batch, state.head,
                                    pair.query, pair.key);
    view.value = allowed ? "allowed" : "forbidden";
    view.formula = fmt::format("query i = {}, key j = {}", pair.query, pair.key);
    add_rules(state, view);
    if (const auto row = row_of(state)) {
        add_arithmetic(state, *row, view);
        view.table = table_of(state, *row);
        view.as_latex = latex_of(*row, pair.key);
        view.as_python = python_of(*row, score_symbol(state), pair.key);
    }
    view.as_text = text_of(view);
    return view;
}

/// "M = −1e9, exp(M − m) = 1, ÷ 4 = 0.25": what one convention does with the pair.
void add_convention(const AppState& state, const ConventionInfo& info,
                    const ConventionResult& result, InspectorView& view) {
    const auto [i, j] = masks_look(state).pair;
    const float masked = result.masked(0, 0, i, j);
    const float max = result.max[i];
    const float sum = result.sums[i];
    const float share = std::exp(masked - max);
    view.add(std::string(info.full), "");
    view.add("score", number(masked), Role::score);
    view.add("exp(M − m)",
             fmt::format("exp({} − {}) = {}", number(masked), factor(number(max)), number(share)));
    view.add("÷ Σ exp",
             fmt::format("{} ÷ {} = {}", number(share), number(sum), number(share / sum)));
    view.add("weight", number(result.weights(0, 0, i, j)), Role::weight);
}

InspectorTable both_weights(const AppState& state, const ConventionScores& scores,
                            const ConventionResult& first, const ConventionResult& second) {
    const Index i = masks_look(state).pair.query;
    const auto labels = axis_labels(state, Axis::key, state.document().size.tk);
    InspectorTable table{"the first, the second",
                         "key",
                         {{"mask", {}}, {"1st", Role::weight}, {"2nd", Role::weight}},
                         {},
                         std::nullopt};
    for (std::size_t j = 0; j < labels.size(); ++j) {
        const auto key = static_cast<Index>(j);
        const bool allowed = scores.mask[static_cast<std::size_t>(i) * labels.size() + j] != 0;
        TableRow row{labels[j], {}};
        row.cells = {{allowed ? "1" : "0", {}, {}},
                     {cell_number(first.weights(0, 0, i, key), 4), Role::weight, {}},
                     {cell_number(second.weights(0, 0, i, key), 4), Role::weight, {}}};
        row.chosen = key == masks_look(state).pair.key;
        row.muted = !allowed;
        table.rows.push_back(std::move(row));
    }
    return table;
}

InspectorView explain_conventions(const AppState& state, const ConventionScores& scores,
                                  const ConventionResult& first, const ConventionResult& second) {
    const auto [i, j] = masks_look(state).pair;
    InspectorView view;
    view.empty = false;
    view.title = pair_name(state, masks_look(state).pair);
    view.role = Role::weight;
    view.value = fmt::format("{} | {}", number(first.weights(0, 0, i, j)),
                             number(second.weights(0, 0, i, j)));
    add_convention(state, chosen_convention(state, 0), first, view);
    add_convention(state, chosen_convention(state, 1), second, view);
    view.table = both_weights(state, scores, first, second);
    view.as_text = view.as_latex = view.as_python = text_of(view);
    return view;
}

InspectorView inspect_conventions(const AppState& state) {
    const MasksLong* const found = long_masks(state);
    if (found != nullptr && found->results[1])
        return explain_conventions(state, *found->scores, *found->results[0], *found->results[1]);
    const auto scores = found == nullptr ? convention_scores(state) : ConventionScores{};
    if (scores.scores.empty()) return only_hint("The scores are not stored.");
    return explain_conventions(state, scores,
                               result_of(scores, chosen_convention(state, 0).convention),
                               result_of(scores, chosen_convention(state, 1).convention));
}

}  // namespace

InspectorView masks_inspector(const AppState& state) {
    if (!masks_missing_data(state).empty()) return {};
    return masks_look(state).tab == MasksTab::compose ? inspect_mask(state)
                                                      : inspect_conventions(state);
}

}  // namespace attn::view
