// The chain rule, backward from the output. Each function quotes the forward line that it differentiates;
// core/kernels/reference_backward.cpp computes the same.

#include "app/workspaces/step/explain_backward.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/document/loss.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/backward_parts.h"
#include "app/workspaces/step/grids.h"
#include "core/check.h"
#include "core/dropout.h"
#include "core/gradient_tex.h"

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
        return combine(Op::exp, {combine(Op::difference, {logit, plain(most)})});
    };
    std::vector<Expr> terms;
    double sum = 0.0;
    for (Index c = 0; c < std::ssize(row); ++c) {
        sum += std::exp(static_cast<double>(row[static_cast<std::size_t>(c)]) - most);
        if (std::ssize(row) <= kMostLogits) terms.push_back(raised(c));
    }
    const Expr below = terms.empty() ? plain(sum) : combine(Op::sum, std::move(terms));
    const Expr share = combine(Op::quotient, {raised(cell.column), below});
    const bool hit = cell.column == target;
    const std::string label = tex_label(state, Axis::query, cell.row);
    set_formula(
        explanation,
        fmt::format(R"(\frac{{\exp(Y_{{{0},{1}}} - m)}}{{\sum_{{c}} \exp(Y_{{{0},c}} - m)}}{2})",
                    label, cell.column, hit ? " - 1" : ""));
    explanation.notes.emplace_back(hit ? "L = −ln softmax(y)[c] of this row y, and this is c: "
                                         "softmax − 1. m is the largest of the row."
                                       : "L = −ln softmax(y)[c] of this row y, and c is another "
                                         "column: softmax. m is the largest of the row.");
    explanation.steps.push_back(
        last_step(explanation, hit ? combine(Op::difference, {share, constant(1.0)}) : share));
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
        explanation.steps.push_back(last_step(
            explanation, combine(Op::difference, {cell_expr(state, cell), plain(target)})));
        return;
    }
    if (loss.kind == LossKind::cross_entropy && cell.row == loss.cell.row &&
        state.batch == loss.cell.batch)
        return explain_logit(state, explanation, loss.cell.column);
    if (loss.kind == LossKind::file) {
        set_formula(explanation, loss_gradient_tex(state));
        explanation.notes.emplace_back(
            "L = Σ dY ∘ output: the file gives this number, ∂L/∂output, as its array dY or dO.");
        explanation.steps.push_back(last_step(explanation, constant(explanation.value)));
        return;
    }
    const bool counts = explanation.value != 0.0;
    set_formula(explanation,
                fmt::format(R"({}\text{{, since }} L = {})", counts ? 1 : 0, loss_tex(state)));
    explanation.steps.push_back(last_step(explanation, constant(counts ? 1.0 : 0.0)));
    if (loss.kind == LossKind::sum)
        explanation.notes.emplace_back("Every output counts once in the sum.");
    else
        explanation.notes.emplace_back(counts ? "L is this output itself."
                                              : "L is another output: this one does not count.");
}

// forward:  Y = concat(heads) W_O  so  d_context[i, c] = Σ_n d_Y[i, n] W_O[h d_v + c, n]
void explain_context(const AppState& state, Explanation& explanation) {
    const Document& document = state.document();
    const CellRef cell = explanation.cell;
    const Index joined = state.head * document.size.d_v + cell.column;
    const Slice slice{state.batch, 0};
    if (document.inputs->params[Param::w_o].empty()) {
        set_formula(explanation,
                    tex_gradient(Stage::output) + R"(\text{ of the same place: there is no } W_O)");
        explanation.steps.push_back(
            last_step(explanation,
                      stage_expr(state, From::gradients, Stage::output, slice, cell.row, joined)));
        return;
    }
    Chain chain = chain_of(Stage::output, tex_label(state, Axis::query, cell.row) + ", n",
                           Param::w_o, fmt::format("{}, n", joined), "n");
    for (Index n = 0; n < document.size.d_out; ++n)
        chain.add(stage_expr(state, From::gradients, Stage::output, slice, cell.row, n),
                  param_expr(state, Param::w_o, joined, n), fmt::format("{}", n));
    add_chain(explanation, std::move(chain), "n");
}

// forward:  context = Ã V  so  d_Ã[i, j] = Σ_c d_context[i, c] V[j, c]
void explain_last_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Slice query = shown_slice(state, Stage::context);
    const Slice value = shown_slice(state, Stage::v);
    Chain chain = chain_of(Stage::context, tex_label(state, Axis::query, cell.row) + ", c",
                           Stage::v, tex_label(state, Axis::key, cell.column) + ", c", "c");
    for (Index c = 0; c < state.document().size.d_v; ++c)
        chain.add(stage_expr(state, From::gradients, Stage::context, query, cell.row, c),
                  stage_expr(state, From::values, Stage::v, value, cell.column, c),
                  fmt::format("{}", c));
    add_chain(explanation, std::move(chain), "c");
}

// forward:  Ã = A · keep / (1 − p)  so  d_A = d_Ã · keep / (1 − p)
void explain_kept_weight(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const AttentionSpec& spec = state.document().spec;
    const double factor =
        dropout_factor(spec, state.document().size, state.batch, state.head, cell.row, cell.column);
    const Expr after = stage_expr(state, From::gradients, Stage::dropped,
                                  shown_slice(state, Stage::dropped), cell.row, cell.column);
    if (factor == 0.0) {
        set_formula(explanation,
                    tex_gradient(Stage::dropped) + R"( \cdot 0\text{, this weight is dropped})");
        explanation.steps.push_back(
            last_step(explanation, combine(Op::product, {after, constant(0.0)})));
        return;
    }
    set_formula(explanation, tex_gradient(Stage::dropped) +
                                 R"( \cdot \frac{1}{1 - p}\text{, this weight is kept})");
    Expr kept = combine(Op::difference, {constant(1.0), constant(spec.dropout)});
    explanation.steps.push_back(
        last_step(explanation, combine(Op::quotient, {after, std::move(kept)})));
}

void explain_weight_gradient(const AppState& state, Explanation& explanation) {
    if (weight_stage(state.document()) == Stage::weights)
        explain_last_weight(state, explanation);
    else
        explain_kept_weight(state, explanation);
    explain_competition(state, explanation);
}

/// A pair that no sum takes part in: its gradient is exactly 0.
bool is_left_out(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const auto keys = contributing_keys(state, {state.batch, state.head}, cell.row);
    if (keys[static_cast<std::size_t>(cell.column)] != 0) return false;
    set_formula(explanation, R"(0\text{, the pair is masked})");
    explanation.notes.emplace_back("The mask cuts the pair off: its score reaches no weight.");
    return true;
}

// forward:  M = S where allowed  so  d_S = d_M there, 0 elsewhere
void explain_scaled(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    if (is_left_out(state, explanation)) return;
    set_formula(explanation, tex_gradient(Stage::masked) + R"(\text{, the pair is allowed})");
    explanation.steps.push_back(last_step(
        explanation, stage_expr(state, From::gradients, Stage::masked,
                                shown_slice(state, Stage::masked), cell.row, cell.column)));
}

// forward:  S = scores · factor  so  d_scores = d_S · factor
void explain_scores(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    if (is_left_out(state, explanation)) return;
    const AttentionSpec& spec = state.document().spec;
    const std::string factor = tex_factor(spec);
    set_formula(explanation,
                tex_gradient(Stage::scaled) + (factor.empty() ? "" : R"( \cdot )" + factor));
    explanation.steps.push_back(last_step(
        explanation,
        scaled_expr(spec, state.document().d_k,
                    stage_expr(state, From::gradients, Stage::scaled,
                               shown_slice(state, Stage::scaled), cell.row, cell.column))));
}

/// What the chain rule of a stage reads: gradients, then values.
struct Reads {
    std::vector<Stage> gradients, values;
};
Reads reads_of(const AppState& state, Stage stage) {
    const Stage last = weight_stage(state.document());
    switch (stage) {
        case Stage::x:
        case Stage::x_kv:
            return {{Stage::q, Stage::k, Stage::v}, {}};
        case Stage::q:
            return {{Stage::scores}, {Stage::k}};
        case Stage::k:
            return {{Stage::scores}, {Stage::q}};
        case Stage::v:
            return {{Stage::context}, {last}};
        case Stage::q_rot:
        case Stage::k_rot:
        case Stage::biased:
            return {};  // no document that is stepped through has them: stages_lack()
        case Stage::scores:
            return {{Stage::scaled}, {}};
        case Stage::scaled:
            return {{Stage::masked}, {}};
        case Stage::masked:
            return {{Stage::weights}, {Stage::weights}};
        case Stage::weights:
            if (last == Stage::dropped) return {{Stage::dropped}, {Stage::weights}};
            return {{Stage::context}, {Stage::v, Stage::weights}};
        case Stage::dropped:
            return {{Stage::context}, {Stage::v}};
        case Stage::context:
            return {{Stage::output}, {}};
        case Stage::output:
            return {{}, {Stage::output}};
    }
    return {};
}

Reads reads_of(const AppState& state, Param param) {
    const Stage source = key_stage(state.document());
    switch (param) {
        case Param::w_q:
        case Param::b_q:
            return {{Stage::q}, {Stage::x}};
        case Param::w_k:
        case Param::b_k:
            return {{Stage::k}, {source}};
        case Param::w_v:
        case Param::b_v:
            return {{Stage::v}, {source}};
        case Param::w_o:
        case Param::b_o:
            return {{Stage::output}, {Stage::context}};
        case Param::w_score:
        case Param::w_score_q:
        case Param::w_score_k:
        case Param::w_score_row:
        case Param::sinks:
            break;
    }
    return {};
}

/// The keys of what the trace or the gradients do not hold, joined; "" when all is there.
std::string missing_of(const AppState& state, const Reads& reads) {
    std::vector<OperandId> values(reads.values.begin(), reads.values.end());
    std::string missing = missing_of(state, values);
    for (const Stage stage : reads.gradients)
        if ((*state.gradients)[stage].empty())
            missing +=
                fmt::format("{}gradients of {}", missing.empty() ? "" : " and ", info(stage).key);
    return missing;
}

void explain_stage_gradient(const AppState& state, Explanation& explanation, Stage stage) {
    switch (stage) {
        case Stage::output:
            return explain_output(state, explanation);
        case Stage::context:
            return explain_context(state, explanation);
        case Stage::dropped:
            return explain_last_weight(state, explanation);
        case Stage::weights:
            return explain_weight_gradient(state, explanation);
        case Stage::masked:
            return explain_softmax_gradient(state, explanation);
        case Stage::scaled:
            return explain_scaled(state, explanation);
        case Stage::scores:
            return explain_scores(state, explanation);
        default:
            return explain_vector_gradient(state, explanation, stage);
    }
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
    const Reads reads =
        stage ? reads_of(state, *stage) : reads_of(state, std::get<Param>(cell.tensor));
    set_formula(explanation,
                std::string(std::visit([](auto id) { return gradient_tex(id); }, cell.tensor)));
    if (const std::string missing = missing_of(state, reads); !missing.empty())
        explain_without(state, explanation, missing);
    else if (stage)
        explain_stage_gradient(state, explanation, *stage);
    else
        explain_param_gradient(state, explanation, std::get<Param>(cell.tensor));
    return explanation;
}

}  // namespace attn::view
