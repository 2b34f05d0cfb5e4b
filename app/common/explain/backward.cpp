// The chain rule, backward from the output. Each function quotes the forward line that it differentiates;
// core/kernels/reference_backward.cpp computes the same.

#include "app/common/explain/backward.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/loss.h"
#include "app/common/explain/explain.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/dropout.h"
#include "core/gradient_tex.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr Index kMostLogits = 64;  // written out

// forward:  L = −ln softmax(y)[c]  so  d_y = softmax(y) − 1 at c, y a row of Y
void explain_logit(const AppState& state, Explanation& explanation, Index target) {
    const CellRef cell = explanation.cell;
    const auto row = sheet_of(state, Stage::output).values.row(cell.row);
    const double most = *std::ranges::max_element(row);
    const auto raised = [&](Index c) {
        const Expr logit = cell_expr(state, {Stage::output, cell.row, c});
        return combine(Op::exp, {logit - plain(most)});
    };
    std::vector<Expr> terms;
    double sum = 0.0;
    for (Index c = 0; c < std::ssize(row); ++c) {
        sum += std::exp(static_cast<double>(row[c]) - most);
        if (std::ssize(row) <= kMostLogits) terms.push_back(raised(c));
    }
    const Expr below = terms.empty() ? plain(sum) : combine(Op::sum, std::move(terms));
    const Expr share = raised(cell.column) / below;
    const bool hit = cell.column == target;
    const std::string label = tex_label(state, Axis::query, cell.row);
    set_formula(
        explanation,
        fmt::format(R"(\frac{{\exp(Y_{{{0},{1}}} - m)}}{{\sum_{{c}} \exp(Y_{{{0},c}} - m)}}{2})",
                    label, cell.column, hit ? " - 1" : ""));
    explanation.notes.emplace_back(
        hit ? "L = −ln softmax(y)[c] of this row y. In column c the derivative is softmax − 1. m "
              "is the largest entry of the row."
            : "L = −ln softmax(y)[c] of this row y. Outside column c the derivative is softmax. m "
              "is the largest entry of the row.");
    end_with(explanation, hit ? share - constant(1.0) : share);
}

// L = Σ Y, Y[i, c], ½ Σ (Y − T)², −ln softmax(Y[i])[c], or Σ dY ∘ Y: d_Y is 1, 1 at one cell, Y − T, softmax(Y[i]) − 1 at
// c, or the file's
void explain_output(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Loss loss = loss_of(state);
    if (loss.kind == LossKind::squared) {
        const double target = target_of(state.document(), state.batch, cell.row, cell.column);
        set_formula(explanation, fmt::format(R"({} - \mathrm{{target}})", latex_name(state, cell)));
        explanation.notes.emplace_back("The derivative of ½ (output − target)².");
        end_with(explanation, cell_expr(state, cell) - plain(target));
        return;
    }
    if (loss.kind == LossKind::cross_entropy && cell.row == loss.cell.row &&
        state.batch == loss.cell.batch)
        return explain_logit(state, explanation, loss.cell.column);
    if (loss.kind == LossKind::file) {
        set_formula(explanation, loss_gradient_tex(state));
        explanation.notes.emplace_back(
            "L = Σ dY ∘ output: the file gives this number, ∂L/∂output, as its array dY or dO.");
        end_with(explanation, constant(explanation.value));
        return;
    }
    const bool counts = explanation.value != 0.0;
    set_formula(explanation,
                fmt::format(R"({}\text{{, since }} L = {})", counts ? 1 : 0, loss_tex(state)));
    end_with(explanation, constant(counts ? 1.0 : 0.0));
    explanation.notes.emplace_back(loss.kind == LossKind::sum
                                       ? "Every output counts once in the sum."
                                   : counts ? "L is this output itself."
                                            : "L is another output, so this derivative is 0.");
}

// forward:  Y = concat(heads) W_O  so  d_context[i, c] = Σ_n d_Y[i, n] W_O[h d_v + c, n]
void explain_context(const AppState& state, Explanation& explanation) {
    const Document& document = state.document();
    const CellRef cell = explanation.cell;
    const Index joined = state.head * document.size.d_v + cell.column;
    if (document.inputs->params[Param::w_o].empty()) {
        set_formula(explanation,
                    tex_gradient(Stage::output) + R"(\text{ of the same place: there is no } W_O)");
        end_with(explanation, stage_expr(state, From::gradients, Stage::output, cell.row, joined));
        return;
    }
    Chain chain = chain_of(Stage::output, tex_label(state, Axis::query, cell.row) + ", n",
                           Param::w_o, fmt::format("{}, n", joined), "n");
    for (Index n = 0; n < document.size.d_out; ++n)
        chain.add(stage_expr(state, From::gradients, Stage::output, cell.row, n),
                  param_expr(state, Param::w_o, joined, n), std::to_string(n));
    add_chain(state, explanation, std::move(chain), "n");
}

// forward:  context = Ã V  so  d_Ã[i, j] = Σ_c d_context[i, c] V[j, c]
void explain_last_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    Chain chain = chain_of(Stage::context, tex_label(state, Axis::query, cell.row) + ", c",
                           Stage::v, tex_label(state, Axis::key, cell.column) + ", c", "c");
    for (Index c = 0; c < state.document().size.d_v; ++c)
        chain.add(stage_expr(state, From::gradients, Stage::context, cell.row, c),
                  stage_expr(state, From::values, Stage::v, cell.column, c), std::to_string(c));
    add_chain(state, explanation, std::move(chain), "c");
}

// forward:  Ã = A · keep / (1 − p)  so  d_A = d_Ã · keep / (1 − p)
void explain_retained_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const double factor =
        dropout_factor(spec, state.document().size, state.batch, state.head, cell.row, cell.column);
    const Expr after = stage_expr(state, From::gradients, Stage::dropped, cell.row, cell.column);
    if (factor == 0.0) {
        set_formula(explanation,
                    tex_gradient(Stage::dropped) + R"( \cdot 0\text{, this weight is dropped})");
        end_with(explanation, after * constant(0.0));
        return;
    }
    set_formula(explanation, tex_gradient(Stage::dropped) +
                                 R"( \cdot \frac{1}{1 - p}\text{, this weight is kept})");
    Expr retained = constant(1.0) - constant(spec.dropout);
    end_with(explanation, after / std::move(retained));
}

/// A pair that no sum takes part in: its gradient is exactly 0.
bool is_left_out(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const auto keys = contributing_keys(state, {state.batch, state.head}, cell.row);
    if (keys[cell.column] != 0) return false;
    set_formula(explanation, R"(0\text{, the pair is masked})");
    explanation.notes.emplace_back("The mask forbids the pair, so its score changes no weight.");
    return true;
}

// forward:  A = softmax(M)  so  d_M[i, j] = A[i, j] (d_A[i, j] − Σ_k A[i, k] d_A[i, k])
// Jacobian of a row: ∂a_j/∂m_j = a_j (1 − a_j), ∂a_k/∂m_j = −a_j a_k.

/// One row of weights and their gradients, of the keys that take part.
struct WeightRow {
    std::vector<Index> keys;
    std::vector<Expr> a, d_a;
    Expr mean;  // Σ A · d_A
};

WeightRow weight_row(const AppState& state, Index i) {
    const auto takes_part = contributing_keys(state, {state.batch, state.head}, i);
    WeightRow row;
    std::vector<Expr> terms;
    for (Index j = 0; j < state.document().size.tk; ++j) {
        if (takes_part[j] == 0) continue;
        row.keys.push_back(j);
        row.a.push_back(stage_expr(state, From::values, Stage::weights, i, j));
        row.d_a.push_back(stage_expr(state, From::gradients, Stage::weights, i, j));
        terms.push_back(row.a.back() * row.d_a.back());
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
InspectorTable row_table(const AppState& state, const WeightRow& row, const CellRef& cell) {
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
    InspectorTable table;
    table.label = "key";
    table.columns = {
        {"A", Role::weight}, {"∂L/∂A", Role::weight}, {"− mean", {}, true}, {"∂L/∂M", Role::score}};
    for (std::size_t n = 0; n < row.keys.size(); ++n) {
        const CellRef weight{Stage::weights, cell.row, row.keys[n]};
        const CellRef masked{Stage::masked, cell.row, row.keys[n]};
        const bool finite = largest > 0.0 && std::isfinite(results[n]);
        table.rows.push_back({axis_label(state, Axis::key, row.keys[n]),
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

Step slope(const AppState& state, const CellRef& weight, const CellRef& score, Expr expr) {
    const double value = evaluate(expr);
    return {fmt::format("∂{}/∂{}", cell_name(state, weight), cell_name(state, score)),
            fmt::format("\\frac{{\\partial {}}}{{\\partial {}}}", latex_name(state, weight),
                        latex_name(state, score)),
            std::move(expr), value};
}

/// What raising the pair's score does to the weights of its row.
void explain_competition(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const WeightRow row = weight_row(state, cell.row);
    const auto at = std::ranges::find(row.keys, cell.column);
    if (at == row.keys.end()) return;
    const Expr& own = row.a[at - row.keys.begin()];
    if (!std::isfinite(own.value)) return;
    const CellRef score{Stage::masked, cell.row, cell.column};
    const std::string pair = fmt::format("{} → {}", axis_label(state, Axis::query, cell.row),
                                         axis_label(state, Axis::key, cell.column));
    const Expr* const other = strongest_other(row, cell.column);
    explanation.asides.push_back(
        slope(state, {Stage::weights, cell.row, cell.column}, score, own * (constant(1.0) - own)));
    const bool sinks = has_sinks(state.document());
    if (other == nullptr) {
        explanation.notes.push_back(
            pair + (sinks ? " is the only key of its row: what it gains, the sink loses."
                          : " is the only key of its row, so its weight stays 1."));
        return;
    }
    Expr minus = own;
    minus.value = -minus.value;
    explanation.asides.push_back(slope(state, *other->link, score, minus * *other));
    explanation.notes.push_back(fmt::format(
        "Raising the score of {} takes weight from the other keys of the row{} in proportion "
        "to their weights: ∂a_j/∂m_j = a_j (1 − a_j), ∂a_k/∂m_j = −a_j a_k.",
        pair, sinks ? ", and from the sink," : ""));
}

void explain_softmax_gradient(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    if (is_left_out(state, explanation)) return;
    const WeightRow row = weight_row(state, cell.row);
    const auto n =
        static_cast<std::size_t>(std::ranges::find(row.keys, cell.column) - row.keys.begin());
    set_formula(explanation, R"(A \cdot (\frac{\partial L}{\partial A} - \mathrm{mean}), )"
                             R"(\mathrm{mean} = \sum_j A_j \cdot \frac{\partial L}{\partial A_j})");
    explanation.table = row_table(state, row, cell);
    const double mean = evaluate(row.mean);
    explanation.steps.push_back(
        {"mean", "\\mathrm{mean}", row.mean, mean,
         fmt::format("Σ_j A[{0}, j]·∂L/∂A[{0}, j]", axis_label(state, Axis::query, cell.row))});
    end_with(explanation, row.a[n] * (row.d_a[n] - plain(mean)));
    explain_competition(state, explanation);
}

void explain_weight_gradient(const AppState& state, Explanation& explanation) {
    if (weight_stage(state.document()) == Stage::weights)
        explain_last_weight(state, explanation);
    else
        explain_retained_weight(state, explanation);
    explain_competition(state, explanation);
}

// forward:  M = S (or B) where allowed  so  d_S = d_M there, 0 elsewhere
void explain_allowed(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    if (is_left_out(state, explanation)) return;
    set_formula(explanation, tex_gradient(Stage::masked) + R"(\text{, the pair is allowed})");
    end_with(explanation, stage_expr(state, From::gradients, Stage::masked, cell.row, cell.column));
}

// forward:  S = scores · factor  so  d_scores = d_S · factor
void explain_scores(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    if (is_left_out(state, explanation)) return;
    const AttentionSpec& spec = state.document().spec;
    const std::string factor = tex_factor(spec);
    set_formula(explanation,
                tex_gradient(Stage::scaled) + (factor.empty() ? "" : R"( \cdot )" + factor));
    const Expr scaled = stage_expr(state, From::gradients, Stage::scaled, cell.row, cell.column);
    end_with(explanation, scaled_expr(spec, state.document().d_k, scaled));
}

/// The values that the chain rule of a stage or a parameter reads, with the gradients of the stages made with it.
std::vector<OperandId> values_read(const AppState& state, const OperandId& id) {
    const AttentionSpec& spec = state.document().spec;
    const Stage last = weight_stage(state.document());
    const Stage q = read_by_scores(state, Stage::q), k = read_by_scores(state, Stage::k);
    if (const Param* const param = std::get_if<Param>(&id)) {
        const ParamUse use = info(*param).use;
        if (use == ParamUse::sink) return {Stage::weights};
        if (use == ParamUse::norm) return {*param == Param::q_norm_weight ? Stage::q : Stage::k};
        if (use == ParamUse::score) return {q, k};
        return {projection_of(state, *param).input};
    }
    const Stage stage = std::get<Stage>(id);
    if (stage == q || stage == k) return {q, k};
    switch (stage) {
        case Stage::q:
        case Stage::k:
            return spec.qk_norm ? std::vector<OperandId>{stage} : std::vector<OperandId>{};
        case Stage::v:
            return {last};
        case Stage::scaled:
            return spec.biases() ? std::vector<OperandId>{stage} : std::vector<OperandId>{};
        case Stage::masked:
            return {Stage::weights};
        case Stage::weights:
            if (last == Stage::weights) return {Stage::v, Stage::weights};
            return {Stage::weights};
        case Stage::dropped:
            return {Stage::v};
        case Stage::output:
            return {Stage::output};
        default:
            return {};
    }
}

/// The keys of what the trace or the gradients do not hold, joined; "" when all is there.
std::string missing_for_gradient(const AppState& state, const OperandId& id) {
    std::string missing = missing_of(state, values_read(state, id));
    for (const Stage stage : stages_made_with(state.document(), id))
        if ((*state.gradients)[stage].empty())
            missing +=
                fmt::format("{}gradients of {}", missing.empty() ? "" : " and ", info(stage).key);
    return missing;
}

void explain_stage_gradient(const AppState& state, Explanation& explanation, Stage stage) {
    if (stage == Stage::output) return explain_output(state, explanation);
    if (stage == Stage::context) return explain_context(state, explanation);
    if (stage == Stage::dropped) return explain_last_weight(state, explanation);
    if (stage == Stage::weights) return explain_weight_gradient(state, explanation);
    if (stage == Stage::masked) return explain_softmax_gradient(state, explanation);
    const bool biases = state.document().spec.biases();
    if (stage == Stage::biased || (stage == Stage::scaled && !biases))
        return explain_allowed(state, explanation);
    if (stage == Stage::scaled) return explain_bias_gradient(state, explanation);
    if (stage == Stage::scores) return explain_scores(state, explanation);
    explain_vector_gradient(state, explanation, stage);
}

}  // namespace

std::string gradient_name(const AppState& state, const CellRef& cell) {
    return "∂L/∂" + cell_name(state, cell);
}

Explanation explain_gradient(const AppState& state, const CellRef& cell) {
    Explanation explanation;
    explanation.cell = cell;
    explanation.name = gradient_name(state, cell);
    explanation.latex =
        fmt::format("\\frac{{\\partial L}}{{\\partial {}}}", latex_name(state, cell));
    const auto value = gradient_at(state, cell);
    ATTN_CHECK(value, "a cell without a gradient");
    explanation.value = *value;
    const Stage* const stage = std::get_if<Stage>(&cell.tensor);
    set_formula(explanation,
                std::string(std::visit([](auto id) { return gradient_tex(id); }, cell.tensor)));
    if (const std::string missing = missing_for_gradient(state, cell.tensor); !missing.empty())
        explain_without(state, explanation, missing);
    else if (stage)
        explain_stage_gradient(state, explanation, *stage);
    else
        explain_param_gradient(state, explanation, std::get<Param>(cell.tensor));
    return explanation;
}

}  // namespace attn::view
