#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/pair.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/grids.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/given.h"
#include "core/heads/matrix.h"
#include "core/models/interventions.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

bool is_inside(MatrixView<const float> values, large::Cell pair) {
    return pair.row < values.rows && pair.column < values.columns;
}

bool may_attend_at(const AppState& state, HeadPlace place, large::Cell pair) {
    const auto& allowed = heads_look(state).result->allowed(place);
    const Index keys = heads_look(state).result->weights(place).columns;
    return allowed.empty() || allowed[pair.row * keys + pair.column] != 0;
}

/// " = 0.54 · 1.23", of the pair that is chosen; "" of what is no product.
std::string parts_of(const AppState& state, HeadPlace place) {
    const HeadsLook& look = heads_look(state);
    const HeadsLayer& layer = look.result->layers[place.layer];
    const auto key = static_cast<std::size_t>(look.pair.column);
    const auto head = static_cast<std::size_t>(place.head);
    const double weight = look.result->weights(place)(look.pair.row, look.pair.column);
    const auto product = [&](double by) {
        return fmt::format(" = {} · {}", number(weight), factor(number(by)));
    };
    switch (look.show) {
        case HeadShow::value_norm:
            return product(layer.value_norms[head][key]);
        case HeadShow::output_norm:
            return product(layer.output_norms[head][key]);
        case HeadShow::gradient:
            return product(layer.gradient.matrix(look.result->batch, place.head)(look.pair.row,
                                                                                 look.pair.column));
        default:
            return {};
    }
}

/// What is shown in place of the weight at the chosen pair, from its parts.
void add_shown(const AppState& state, InspectorView& view, HeadPlace place) {
    const HeadsLook& look = heads_look(state);
    if (look.show == HeadShow::weights) return;
    const HeadShowInfo& what = info(look.show);
    const HeadMatrix matrix = head_matrix(*look.result, look.show, place);
    const std::string name(what.title);
    if (!matrix.missing_data.empty())
        return add_line(view, name, {Piece{"not defined: " + matrix.missing_data, {}, true}});
    if (!is_inside(matrix.values, look.pair)) return;
    const double value = matrix.values(look.pair.row, look.pair.column);
    add_line(view, name,
             {Piece{number(value), Role::score},
              Piece{fmt::format("  {}{}", what.formula, parts_of(state, place)), {}, true}});
}

/// Score and weight of the chosen pair, of the head shown.
void add_pair(const AppState& state, InspectorView& view, HeadPlace place) {
    const auto weights = heads_look(state).result->weights(place);
    const large::Cell pair = heads_look(state).pair;
    if (!is_inside(weights, pair)) return;
    const bool may = may_attend_at(state, place, pair);
    add_line(view, "pair",
             {Piece{pair_name(state, {pair.row, pair.column})},
              Piece{may ? "" : "  (masked)", {}, true}});
    constexpr std::pair<Stage, const char*> kScores[] = {
        {Stage::scores, "score"}, {Stage::scaled, "scaled score"}, {Stage::biased, "biased score"}};
    for (const auto& [stage, name] : kScores)
        if (const auto score = value_at(state, {stage, pair.row, pair.column}))
            add_line(view, name, {Piece{number(*score), Role::score}});
    const auto& layers = state.document().given;
    const GivenPairs* const given = layers.empty() ? nullptr : layers[place.layer].get();
    const bool is_given = given != nullptr && given->stage == Stage::weights;
    if (given != nullptr && !is_given)
        add_line(view, std::string(info(given->stage).symbol),
                 {Piece{number(given->values(state.batch, place.head, pair.row, pair.column)),
                        Role::score},
                  Piece{"  given by the file", {}, true}});
    add_line(view, "weight",
             {Piece{number(weights(pair.row, pair.column)), Role::weight},
              Piece{is_given ? "  given by the file" : "", {}, true}});
    add_shown(state, view, place);
    view.as_latex = fmt::format("A_{{{},{}}} = {}", pair.row, pair.column,
                                exact(weights(pair.row, pair.column)));
    std::string row;
    for (const float weight : weights.row(pair.row))
        row += (row.empty() ? "" : ", ") +
               (std::isnan(weight) ? std::string("np.nan") : exact(weight));
    view.as_python = fmt::format(
        "import numpy as np\na = np.array([{}])  # row {} of {}\nweight = a[{}]\n"
        "entropy = -(a[a > 0] * np.log(a[a > 0])).sum()\n",
        row, pair.row, head_name(place), pair.column);
}

/// Of the heads that stand together, at the chosen pair.
void add_mean(const AppState& state, InspectorView& view) {
    const auto places = heads_together(state);
    const HeadsLook& look = heads_look(state);
    double sum = 0.0;
    for (const HeadPlace place : places) {
        const HeadMatrix matrix = head_matrix(*look.result, look.show, place);
        if (!matrix.missing_data.empty() || !is_inside(matrix.values, look.pair)) return;
        sum += matrix.values(look.pair.row, look.pair.column);
    }
    if (places.empty()) return;
    const auto mean = static_cast<float>(sum / static_cast<double>(places.size()));
    add_line(view, together_text(state, places), {Piece{number(mean), Role::weight}});
}

/// A row each; what they are is copied with them.
void add_measures(InspectorView& view, const HeadFacts& facts) {
    view.table = InspectorTable{"", "measure", {{"", Role::weight}}, {}, {}};
    for (const HeadMeasureInfo& each : head_measure_table()) {
        if (each.measure == HeadMeasure::change) continue;  // it has lines of its own
        const auto& value = facts.measures[each.measure];
        const std::string why =
            each.asks.empty() ? std::string() : fmt::format("  (needs {})", each.asks);
        const std::string text = measure_text(each.measure, value);
        const char* const unit = each.measure == HeadMeasure::entropy    ? ", nats"
                                 : each.measure == HeadMeasure::distance ? ", tokens"
                                                                         : "";
        view.table->rows.push_back({std::string(each.title) + (value ? unit : ""),
                                    {{value ? number(*value) : text, Role::weight, {}}}});
        view.as_text +=
            fmt::format("{}: {}  {}\n", each.title, text, value ? std::string(each.formula) : why);
    }
}

/// What the numbers on screen do not say, and where that is from.
InspectorView of_heads(std::string title) {
    InspectorView view = titled(std::move(title), Role::weight);
    view.as_text = view.title + "\n";
    return view;
}

InspectorView of_one(const AppState& state, const HeadFacts& facts) {
    InspectorView view = of_heads(head_name(facts.place));
    view.value = head_title(facts);
    if (facts.label) add_line(view, "evidence", {Piece{label_evidence(facts), {}, true}});
    const auto& names = state.document().head_names;
    if (facts.place.head < std::ssize(names))
        add_line(view, "built as", {Piece{names[facts.place.head]}});
    for (const std::string& each : changes_of(state.document(), facts.place))
        add_line(view, "intervention", {Piece{each}});
    if (const HeadEffect* const effect = effect_on(state.document(), facts.place)) {
        add_line(view, "change", {Piece{change_text(*effect)}});
        add_line(
            view, "",
            {Piece{
                "KL of a row = Σ_j α_j ln(α_j / β_j), α untouched, β now, in the model's own run",
                {},
                true}});
    }
    if (const std::string swept = swept_text(state, facts.place); !swept.empty())
        add_line(view, fmt::format("context set to {}", ablation_text(heads_look(state))),
                 {Piece{swept}});
    if (const auto cell = swept_cell_text(state))
        add_line(view, cell->first, {Piece{cell->second}});
    add_pair(state, view, facts.place);
    add_mean(state, view);
    if (const std::string rows = measured_rows_text(facts.measures); !rows.empty())
        add_line(view, "measured rows", {Piece{rows}});
    add_measures(view, facts);
    return view;
}

/// A beside B, a row a measure.
InspectorTable both(const Document& document, const HeadFacts& a, const HeadFacts& b) {
    InspectorTable table{"", "measure", {{"A", Role::weight}, {"B", Role::weight}}, {}, {}};
    for (const HeadMeasureInfo& each : heads_measures(document))
        table.rows.push_back({std::string(each.title),
                              {{measured(a.measures[each.measure]), Role::weight, {}},
                               {measured(b.measures[each.measure]), Role::weight, {}}}});
    return table;
}

InspectorView of_two(const AppState& state, const HeadFacts& a, const HeadFacts& b) {
    const HeadsResult& result = *heads_look(state).result;
    InspectorView view =
        of_heads(fmt::format("A {}, B {}", head_name(a.place), head_name(b.place)));
    const large::Cell pair = heads_look(state).pair;
    const HeadShow show = heads_look(state).show;
    const HeadMatrix one = head_matrix(result, show, a.place);
    const HeadMatrix two = head_matrix(result, show, b.place);
    const auto& first = one.values;
    const auto& second = two.values;
    const bool same = first.rows == second.rows && first.columns == second.columns;
    if (same && is_inside(first, pair)) {
        const float at_a = first(pair.row, pair.column);
        const float at_b = second(pair.row, pair.column);
        const double by = double{at_a} - at_b;
        view.value = fmt::format("A − B = {}", number(by));
        add_line(view, "pair", {Piece{pair_name(state, {pair.row, pair.column})}});
        add_line(view, "A", {Piece{number(at_a), Role::weight}});
        add_line(view, "B", {Piece{number(at_b), Role::weight}});
        if (show == HeadShow::weights)
            add_line(view, "KL of the row",
                     {Piece{divergence_text(first, second, pair.row) + " nats", Role::score}});
        view.as_latex =
            fmt::format("A_{{{0},{1}}} - B_{{{0},{1}}} = {2}", pair.row, pair.column, exact(by));
        view.as_python = fmt::format("a, b = {}, {}\nchange = a - b\n", exact(at_a), exact(at_b));
    }
    for (const HeadFacts* side : {&a, &b})
        add_line(view, side == &a ? "A" : "B",
                 {Piece{label_title(*side)},
                  Piece{fmt::format("  {}", label_evidence(*side)), {}, true}});
    view.table = both(state.document(), a, b);
    return view;
}

}  // namespace

InspectorView heads_inspector(const AppState& state) {
    InspectorView none;
    none.hint = "Details of the selected head appear here.";
    if (!heads_missing_data(state).empty() || !has_current_heads(state)) return none;
    const HeadsResult& result = *heads_look(state).result;
    const auto& [first, second] = heads_look(state).pinned;
    const HeadFacts* const a = first ? result.find(*first) : nullptr;
    const HeadFacts* const b = second ? result.find(*second) : nullptr;
    if (a != nullptr && b != nullptr) return of_two(state, *a, *b);
    const HeadFacts* const here = result.find(head_here(state));
    if (auto circuit = circuit_inspector(state)) return *std::move(circuit);
    return here != nullptr ? of_one(state, *here) : none;
}

}  // namespace attn::view
