// forward:  A = softmax(M)  so  d_M[i, j] = A[i, j] (d_A[i, j] − Σ_k A[i, k] d_A[i, k])
// Source: core/kernels/reference_backward.cpp; Jacobian of a row: ∂a_j/∂m_j = a_j (1 − a_j), ∂a_k/∂m_j = −a_j a_k.

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/step/backward_parts.h"

namespace attn::view {
namespace {

/// One row of weights and their gradients, of the keys that take part.
struct WeightRow {
    std::vector<Index> keys;
    std::vector<Expr> a, d_a;
    Expr mean;  // Σ A · d_A
};

WeightRow weight_row(const AppState& state, Index i) {
    const Slice slice = shown_slice(state, Stage::weights);
    const auto takes_part = contributing_keys(state, {state.batch, state.head}, i);
    WeightRow row;
    std::vector<Expr> terms;
    for (Index j = 0; j < state.document().size.tk; ++j) {
        if (takes_part[static_cast<std::size_t>(j)] == 0) continue;
        row.keys.push_back(j);
        row.a.push_back(stage_expr(state, From::values, Stage::weights, slice, i, j));
        row.d_a.push_back(stage_expr(state, From::gradients, Stage::weights, slice, i, j));
        terms.push_back(combine(Op::product, {row.a.back(), row.d_a.back()}));
    }
    row.mean = combine(Op::sum, std::move(terms));
    return row;
}

std::vector<double> values_of(const std::vector<Expr>& numbers) {
    std::vector<double> values;
    for (const Expr& number : numbers) values.push_back(number.value);
    return values;
}

/// key, A, d_A, d_A − weighted mean, d_M.
InspectorTable table_of(const AppState& state, const WeightRow& row, const CellRef& cell) {
    const double mean = evaluate(row.mean);
    std::vector<double> above, results;
    double largest = 0.0;
    for (std::size_t n = 0; n < row.keys.size(); ++n) {
        above.push_back(row.d_a[n].value - mean);
        results.push_back(*gradient_at(state, {Stage::masked, cell.row, row.keys[n]}));
        if (std::isfinite(results.back())) largest = std::max(largest, std::abs(results.back()));
    }
    const auto a = column_texts(values_of(row.a));
    const auto d_a = column_texts(values_of(row.d_a));
    const auto over = column_texts(above);
    const auto d_m = column_texts(results);
    InspectorTable table{"",
                         "key",
                         {{"A", Role::weight},
                          {"∂L/∂A", Role::weight},
                          {"− mean", {}, true},
                          {"∂L/∂M", Role::score}},
                         {},
                         {}};
    for (std::size_t n = 0; n < row.keys.size(); ++n) {
        const CellRef weight{Stage::weights, cell.row, row.keys[n]};
        const CellRef masked{Stage::masked, cell.row, row.keys[n]};
        const bool finite = largest > 0.0 && std::isfinite(results[n]);
        table.rows.push_back({label_of(state, Axis::key, row.keys[n]),
                              {{a[n], Role::weight, weight},
                               {d_a[n], Role::weight, weight},
                               {over[n], {}, {}},
                               {d_m[n], Role::score, masked}},
                              row.keys[n] == cell.column,
                              false,
                              finite ? results[n] / largest : 0.0});
    }
    return table;
}

/// The other key of the row that has the largest weight; nullptr when the key is alone.
const Expr* strongest_other(const WeightRow& row, Index column) {
    const Expr* found = nullptr;
    for (std::size_t n = 0; n < row.keys.size(); ++n)
        if (row.keys[n] != column && (!found || row.a[n].value > found->value)) found = &row.a[n];
    return found;
}

std::string slope_name(const AppState& state, const CellRef& weight, const CellRef& score) {
    return fmt::format("∂{}/∂{}", cell_name(state, weight), cell_name(state, score));
}

std::string slope_latex(const AppState& state, const CellRef& weight, const CellRef& score) {
    return fmt::format("\\frac{{\\partial {}}}{{\\partial {}}}", latex_name(state, weight),
                       latex_name(state, score));
}

Step slope(const AppState& state, const CellRef& weight, const CellRef& score, Expr expr) {
    const double value = evaluate(expr);
    return {slope_name(state, weight, score), slope_latex(state, weight, score), std::move(expr),
            value};
}

}  // namespace

void explain_competition(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const WeightRow row = weight_row(state, cell.row);
    const auto at = std::ranges::find(row.keys, cell.column);
    if (at == row.keys.end()) return;
    const Expr& own = row.a[static_cast<std::size_t>(at - row.keys.begin())];
    if (!std::isfinite(own.value)) return;
    const CellRef score{Stage::masked, cell.row, cell.column};
    const std::string pair = fmt::format("{} → {}", label_of(state, Axis::query, cell.row),
                                         label_of(state, Axis::key, cell.column));
    const Expr* const other = strongest_other(row, cell.column);
    explanation.asides.push_back(
        slope(state, {Stage::weights, cell.row, cell.column}, score,
              combine(Op::product, {own, combine(Op::difference, {constant(1.0), own})})));
    if (other == nullptr) {
        explanation.notes.push_back(fmt::format(
            "{} has no competitor: it is the only key of its row, and its weight stays 1.", pair));
        return;
    }
    Expr minus = own;
    minus.value = -minus.value;
    explanation.asides.push_back(
        slope(state, *other->link, score, combine(Op::product, {minus, *other})));
    explanation.notes.push_back(
        fmt::format("Raising the score of {} takes from the other keys of the row in proportion to "
                    "their weights: ∂a_j/∂m_j = a_j (1 − a_j), ∂a_k/∂m_j = −a_j a_k.",
                    pair));
}

void explain_softmax_gradient(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const WeightRow row = weight_row(state, cell.row);
    const auto at = std::ranges::find(row.keys, cell.column);
    if (at == row.keys.end()) {
        set_formula(explanation, R"(0\text{, the pair is masked})");
        explanation.notes.emplace_back("The mask cuts the pair off: its score reaches no weight.");
        return;
    }
    const auto n = static_cast<std::size_t>(at - row.keys.begin());
    set_formula(explanation, R"(A \cdot (\frac{\partial L}{\partial A} - \mathrm{mean}), )"
                             R"(\mathrm{mean} = \sum_j A_j \cdot \frac{\partial L}{\partial A_j})");
    explanation.table = table_of(state, row, cell);
    const double mean = evaluate(row.mean);
    explanation.steps.push_back(
        {"mean", "\\mathrm{mean}", row.mean, mean,
         fmt::format("Σ_j A[{0}, j]·∂L/∂A[{0}, j]", label_of(state, Axis::query, cell.row))});
    explanation.steps.push_back(last_step(
        explanation,
        combine(Op::product, {row.a[n], combine(Op::difference, {row.d_a[n], plain(mean)})})));
    explain_competition(state, explanation);
}

}  // namespace attn::view
