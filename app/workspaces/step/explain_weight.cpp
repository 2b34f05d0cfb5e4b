#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/step/explain_parts.h"
#include "app/workspaces/step/grids.h"
#include "core/dropout.h"
#include "core/softmax.h"
#include "core/tex.h"

namespace attn::view {
namespace {

/// Why a row of M has no ordinary softmax; "" when it has.
std::string softmax_trouble(const std::vector<double>& m, EmptyRows policy, bool all_forbidden) {
    const double inf = std::numeric_limits<double>::infinity();
    if (std::ranges::any_of(m, [](double value) { return std::isnan(value); }))
        return "A score of the row is NaN, so all its allowed weights are NaN.";
    if (std::ranges::count(m, inf) > 0)
        return "A score of the row is ∞: ∞ − ∞ is NaN, so all its allowed weights are NaN.";
    if (std::ranges::any_of(m, [](double value) { return std::isfinite(value); })) return {};
    if (!all_forbidden) return "All allowed scores are −∞: 0 ÷ 0 is NaN.";
    return policy == EmptyRows::zero ? "The mask leaves no key: the empty row gives 0."
                                     : "The mask leaves no key: the empty row gives NaN.";
}

Expr shifted_exp(const AppState& state, const CellRef& masked, const Expr& largest) {
    return combine(Op::exp, {combine(Op::difference, {cell_expr(state, masked), largest})});
}

/// One row of M and of A, with what lies between.
struct SoftmaxTable {
    const AppState& state;
    Index row;
    SoftmaxRow sides;
    std::vector<double> m;  // of every key
    std::vector<bool> allowed;
};

SoftmaxTable softmax_table(const AppState& state, Index row) {
    const auto m = sheet_of(state, Stage::masked).values;
    const auto pairs = allowed_pairs(state);
    SoftmaxTable table{state, row, softmax_sides(m.row(row)), {}, {}};
    for (Index j = 0; j < m.columns; ++j) {
        table.m.push_back(m(row, j));
        table.allowed.push_back(pairs[static_cast<std::size_t>(row * m.columns + j)] != 0);
    }
    return table;
}

/// Exactly 0, or the NaN of a row without keys.
TableRow masked_row(std::string label, const CellRef& weight, double value) {
    const std::string share = value == 0.0 ? "0" : number(value);
    return {std::move(label), {{"masked", {}, {}}, {}, {}, {share, {}, weight}}, false, true};
}

/// score, score − max, exp and share of each key: all that a pencil needs for any of its weights.
InspectorTable table_of(const SoftmaxTable& softmax, Index chosen) {
    const auto keys =
        axis_labels(softmax.state.document(), Axis::key, static_cast<Index>(softmax.m.size()));
    std::vector<double> shifted, exps, shares;
    for (std::size_t j = 0; j < softmax.m.size(); ++j) {
        shifted.push_back(softmax.m[j] - softmax.sides.max);
        exps.push_back(std::exp(shifted.back()));
        shares.push_back(
            *value_at(softmax.state, {Stage::weights, softmax.row, static_cast<Index>(j)}));
    }
    const auto m_texts = column_texts(softmax.m);
    const auto shifted_texts = column_texts(shifted);
    const auto exp_texts = column_texts(exps);
    const auto share_texts = column_texts(shares);
    InspectorTable table{
        "",
        "key",
        {{"M", Role::score}, {"M − m", {}, true}, {"exp", {}}, {"share", Role::weight}},
        {},
        {}};
    double whole = 0.0;
    for (std::size_t j = 0; j < softmax.m.size(); ++j) {
        const CellRef masked{Stage::masked, softmax.row, static_cast<Index>(j)};
        const CellRef weight{Stage::weights, masked.row, masked.column};
        whole += shares[j];
        if (softmax.allowed[j])
            table.rows.push_back({keys[j],
                                  {{m_texts[j], Role::score, masked},
                                   {shifted_texts[j], {}, {}},
                                   {exp_texts[j], {}, {}},
                                   {share_texts[j], Role::weight, weight}}});
        else
            table.rows.push_back(masked_row(keys[j], weight, shares[j]));
        table.rows.back().bar = std::isfinite(shares[j]) ? shares[j] : 0.0;
        table.rows.back().chosen = static_cast<Index>(j) == chosen;
    }
    table.total = TableRow{"Σ",
                           {{},
                            {},
                            {column_texts({softmax.sides.sum})[0], {}, {}},
                            {column_texts({whole})[0], {}, {}}}};
    return table;
}

/// How the score of the pair came about: q·k, then scaled. Only what the backend keeps.
void add_score_steps(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const CellRef score{Stage::scores, cell.row, cell.column};
    const CellRef scaled{Stage::scaled, cell.row, cell.column};
    if (!missing_of(state, {Stage::q, Stage::k, Stage::scores, Stage::scaled}).empty()) return;
    explanation.steps.push_back(
        {"q·k", "q \\cdot k", products_of(score_chain(state, cell.row, cell.column)),
         *value_at(state, score), fmt::format("the sum of {} products", state.document().d_k),
         score});
    explanation.steps.push_back(
        {"S", "S",
         scaled_expr(state.document().spec, state.document().d_k, cell_expr(state, score)),
         *value_at(state, scaled), "", scaled});
}

/// m, exp(M − m), Σ exp and their quotient.
void add_softmax_steps(const AppState& state, Explanation& explanation,
                       const SoftmaxTable& softmax) {
    const CellRef cell = explanation.cell;
    Expr largest = plain(softmax.sides.max);
    largest.role = Role::score;
    std::vector<Expr> row, exps;
    std::optional<CellRef> at;
    for (Index j = 0; j < static_cast<Index>(softmax.m.size()); ++j) {
        if (!softmax.allowed[static_cast<std::size_t>(j)]) continue;
        row.push_back(cell_expr(state, {Stage::masked, cell.row, j}));
        exps.push_back(shifted_exp(state, *row.back().link, largest));
        if (!at && row.back().value == softmax.sides.max) at = row.back().link;
    }
    const Expr own = shifted_exp(state, {Stage::masked, cell.row, cell.column}, largest);
    const std::string query = label_of(state, Axis::query, cell.row);
    explanation.steps.push_back({"m", "m", combine(Op::max, std::move(row)), softmax.sides.max,
                                 fmt::format("max_j M[{}, j]", query), at});
    explanation.steps.push_back({"exp(M − m)", "e", own, evaluate(own)});
    explanation.steps.push_back({"Σ exp", "\\Sigma", combine(Op::sum, std::move(exps)),
                                 softmax.sides.sum, fmt::format("Σ_j exp(M[{}, j] − m)", query)});
    end_with(explanation, combine(Op::quotient, {plain(evaluate(own)), plain(softmax.sides.sum)}));
}

}  // namespace

void explain_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const SoftmaxTable softmax = softmax_table(state, cell.row);
    const bool own = softmax.allowed[static_cast<std::size_t>(cell.column)];
    const auto allowed = std::ranges::count(softmax.allowed, true);
    explanation.softmax_row = softmax.m;
    explanation.table = table_of(softmax, cell.column);
    set_formula(explanation, "\\frac{\\exp(M - m)}{\\sum_j \\exp(M_j - m)}");
    const std::string trouble =
        softmax_trouble(softmax.m, state.document().spec.empty_rows, allowed == 0);
    if (!trouble.empty()) explanation.notes.push_back(trouble);
    if (!own && explanation.value == 0.0)
        explanation.notes.emplace_back("The pair is masked: exp(−∞) = 0, the weight is exactly 0.");
    else if (own && allowed < std::ssize(softmax.allowed))
        explanation.notes.emplace_back("Masked keys add exp(−∞) = 0 to the sum and are left out.");
    if (!trouble.empty() || !own) return;
    add_score_steps(state, explanation);
    add_softmax_steps(state, explanation, softmax);
}

void explain_dropped(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const double factor =
        dropout_factor(spec, state.document().size, state.batch, state.head, cell.row, cell.column);
    if (factor == 0.0) {
        set_formula(explanation, "0" + tex::text_of(", this weight is dropped"));
        explanation.notes.push_back(
            fmt::format("Dropout p = {} took this weight out.", significant(spec.dropout, 4)));
        return;
    }
    set_formula(explanation, R"(\frac{A}{1 - p})" + tex::text_of(", this weight is kept"));
    Expr kept = combine(Op::difference, {constant(1.0), constant(spec.dropout)});
    end_with(explanation,
             combine(Op::quotient,
                     {cell_expr(state, {Stage::weights, cell.row, cell.column}), std::move(kept)}));
}

}  // namespace attn::view
