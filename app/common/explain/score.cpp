// Scores of every kind, forward and backward. i query row, j key row, c column.
// Backward all kinds have one chain: d_q[i, c] = Σ_j d_scores[i, j] · ∂scores[i, j]/∂q[i, c]; core/scores has the same.

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/call.h"
#include "core/cast.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// Rows [first, first + count) of what the score reads of that side, of one head.
TensorD rows_of(const AppState& state, Stage side, Slice slice, Index first, Index count) {
    const Stage stage = read_by_scores(state, side);
    const Tensor& tensor = (*state.trace)[stage];
    const Index head = head_in(state.document().size, info(stage).heads, slice.head);
    const auto from = tensor.matrix(std::min(slice.batch, tensor.shape().b - 1), head);
    TensorD rows(Shape{1, 1, count, from.columns});
    for (Index t = 0; t < count; ++t)
        std::ranges::copy(from.row(first + t), rows.matrix(0, 0).row(t).begin());
    return rows;
}

/// Gradients of Σ_j d_scores[j] · score of the query q and key j.
struct ScoreGradients {
    OperandsOf<double> operands;  // q [1,1,1,d_k], k [1,1,Tk,d_k]
    ParamsD params;
};

/// By core's own backward. Biases of distances change no slope: they are 0 here.
ScoreGradients score_gradients(const Document& document, const TensorD& q, const TensorD& k,
                               std::span<const double> d_scores) {
    AttentionSpec spec;
    spec.score = document.spec.score;
    spec.scale = document.spec.scale;
    InputsD inputs;
    inputs.q = q, inputs.k = inputs.v = k;
    for (const Param param : info(spec.score).params)
        inputs.params[param] = info(param).columns == Axis::distance
                                   ? TensorD(Shape{1, 1, 1, k.shape().t})
                                   : cast<double>(document.inputs->params[param]);
    const CallD call = validate(inputs, spec).value();
    const OperandsOf<double> operands = make_operands(call, q, k);
    const TensorD& q_hat = operands.q.empty() ? q : operands.q;
    const TensorD& k_hat = operands.k.empty() ? k : operands.k;
    ScoreGradients d{{TensorD(q_hat.shape()), TensorD(k_hat.shape())}, {}};
    const auto keys = static_cast<Index>(d_scores.size());
    if (is_dot(spec.score))
        for (Index j = 0; j < keys; ++j)
            for (Index c = 0; c < q_hat.shape().d && d_scores[j] != 0.0; ++c) {
                d.operands.q(0, 0, 0, c) += d_scores[j] * k_hat(0, 0, j, c);
                d.operands.k(0, 0, j, c) = d_scores[j] * q_hat(0, 0, 0, c);
            }
    else
        pair_products_backward<double>(call, {0, 0, 1}, q_hat.matrix(0, 0), k_hat.matrix(0, 0),
                                       {d_scores.data(), 1, keys, keys}, d.operands.q.matrix(0, 0),
                                       d.operands.k.matrix(0, 0), d.params);
    operands_backward(call, q, k, d.operands, d.params);
    return d;
}

// ---- forward

/// The explained pair of the document.
ScorePair pair_of(const AppState& state, const CellRef& cell) {
    const Stage q = read_by_scores(state, Stage::q), k = read_by_scores(state, Stage::k);
    ScorePair pair;
    pair.q_row = fmt::format("{}[{}", tex_symbol(q), tex_label(state, Axis::query, cell.row));
    pair.k_row = fmt::format("{}[{}", tex_symbol(k), tex_label(state, Axis::key, cell.column));
    for (Index c = 0; c < state.document().d_k; ++c) {
        pair.q.push_back(cell_expr(state, {q, cell.row, c}));
        pair.k.push_back(cell_expr(state, {k, cell.column, c}));
    }
    pair.head = state.head;
    pair.distance = cell.column - cell.row;
    pair.columns = [&](Param param) { return state.document().inputs->params[param].shape().d; };
    pair.param = [&](Param param, Index row, Index column) {
        return cell_expr(state, {param, row, column});
    };
    pair.of_distance = [&, distance = pair.distance](Param param) {
        return cell_expr(state, {param, state.head, distance + state.document().size.tq - 1});
    };
    return pair;
}

/// Of a plain product.
Chain score_chain(const AppState& state, const CellRef& cell) {
    const ScorePair pair = pair_of(state, cell);
    Chain chain{side_of("q", pair.q_row + ", c]", "q"), side_of("k", pair.k_row + ", c]", "k")};
    for (std::size_t c = 0; c < pair.q.size(); ++c)
        chain.add(pair.q[c], pair.k[c], std::to_string(c));
    return chain;
}

/// Σ_c (s q_c) (s k_c), s = d_k^(−1/4).
void forward_scaled_operands(const AppState& state, Explanation& explanation, Chain chain) {
    const Expr root = combine(Op::power, {constant(state.document().d_k), constant(-0.25)});
    const Expr s = explanation.add("s", "s", root, "what each query and key is multiplied by");
    for (Side* side : {&chain.left, &chain.right}) {
        for (Expr& number : side->numbers) number = plain(evaluate(s * number));
        side->heading = "s·" + side->heading;
        side->name = "s·" + side->name;
        side->tex = R"(s \cdot )" + side->tex;
    }
    explanation.notes.emplace_back("s is d_k^(−¼), so that s² is 1 ÷ √d_k.");
    add_sum(state, explanation, std::move(chain), "c");
}

/// Of the pairs of one head that are as far apart.
void explain_distance_gradient(const AppState& state, Explanation& explanation) {
    const Dimensions& size = state.document().size;
    const Index distance = explanation.cell.column - (size.tq - 1);
    std::vector<std::string> labels;
    std::vector<double> parts;
    for (Index b = 0; b < size.batch; ++b)
        for (Index i = std::max<Index>(0, -distance); i < std::min(size.tq, size.tk - distance);
             ++i) {
            const Slice slice{b, explanation.cell.row};
            const Index j = i + distance;
            const bool counts = contributing_keys(state, slice, i)[j] != 0;
            parts.push_back(
                counts ? stage_expr(state, From::gradients, Stage::scores, slice, i, j).value
                       : 0.0);
            labels.push_back(slice_label(state, slice, i));
        }
    add_terms(explanation, "query", labels, parts);
    explanation.notes.push_back(fmt::format("Each term is ∂L/∂scores[i, j] of head {}, j − i = {}.",
                                            explanation.cell.row, distance));
}

}  // namespace

Stage read_by_scores(const AppState& state, Stage side) {
    return std::get<Stage>(operand_of(state.document(), Stage::scores, side));
}

void explain_score(const AppState& state, Explanation& explanation) {
    const AttentionSpec& spec = state.document().spec;
    if (spec.score != Score::dot)
        return explain_pair(spec, pair_of(state, explanation.cell), explanation);
    const Chain chain = score_chain(state, explanation.cell);
    if (!is_plain_product(spec)) return forward_scaled_operands(state, explanation, chain);
    add_deciding_notes(state, explanation, chain);
    add_sum(state, explanation, chain, "c");
}

// ---- backward

double score_slope(const AppState& state, Slice slice, Stage side, Index i, Index j, Index c) {
    const double one = 1.0;
    const OperandsOf<double> d =
        score_gradients(state.document(), rows_of(state, Stage::q, slice, i, 1),
                        rows_of(state, Stage::k, slice, j, 1), {&one, 1})
            .operands;
    return (side == Stage::q ? d.q : d.k)(0, 0, 0, c);
}

std::string slope_description(const AttentionSpec& spec, Stage side) {
    const bool query = side == Stage::q;
    if (spec.scale == ScaleKind::q_and_k)
        return as_read(spec, query ? "∂score/∂q = k ÷ √d_k." : "∂score/∂k = q ÷ √d_k.");
    return as_read(spec, query ? info(spec.score).slope_q : info(spec.score).slope_k);
}

void explain_score_param_gradient(const AppState& state, Explanation& explanation) {
    if (std::get<Param>(explanation.cell.tensor) == Param::b_score)
        return explain_distance_gradient(state, explanation);
    const Dimensions& size = state.document().size;
    const CellRef& cell = explanation.cell;
    std::vector<std::string> labels;
    std::vector<double> parts;
    for (const auto [b, h] : each_cell(size.batch, size.heads)) {
        const Slice slice{b, h};
        const TensorD k = rows_of(state, Stage::k, slice, 0, size.tk);
        for (Index i = 0; i < size.tq; ++i) {
            const auto keys = contributing_keys(state, slice, i);
            std::vector<double> d_scores(keys.size());
            for (Index j = 0; j < size.tk; ++j)
                if (keys[j] != 0)
                    d_scores[j] =
                        stage_expr(state, From::gradients, Stage::scores, slice, i, j).value;
            const ParamsD d = score_gradients(state.document(),
                                              rows_of(state, Stage::q, slice, i, 1), k, d_scores)
                                  .params;
            parts.push_back(d[std::get<Param>(cell.tensor)](0, 0, cell.row, cell.column));
            labels.push_back(slice_label(state, slice, i));
        }
    }
    add_terms(explanation, "query", labels, parts);
    explanation.notes.emplace_back(
        "Each term is Σ_j ∂L/∂scores[i, j] · ∂scores[i, j]/∂ this number, over the query's keys.");
}

void explain_sink_gradient(const AppState& state, Explanation& explanation) {
    const Dimensions& size = state.document().size;
    const Index head = explanation.cell.column;
    const double sink = state.document().inputs->params[Param::sinks](0, 0, 0, head);
    std::vector<std::string> labels;
    std::vector<double> parts;
    for (const auto [b, i] : each_cell(size.batch, size.tq)) {
        const Slice slice{b, head};
        double mean = 0.0;
        for (Index j = 0; j < size.tk; ++j)
            if (const double a = stage_expr(state, From::values, Stage::weights, slice, i, j).value;
                a != 0.0)
                mean += a * stage_expr(state, From::gradients, Stage::weights, slice, i, j).value;
        const double share = std::exp(sink - state.trace->logsumexp(b, head, i, 0));
        parts.push_back(-share * mean);
        labels.push_back(slice_label(state, slice, i));
    }
    add_terms(explanation, "query", labels, parts);
    explanation.notes.emplace_back(
        "Each term is −a_sink · Σ_j A[i, j]·∂L/∂A[i, j], a_sink = exp(sink − ln Σ exp) the weight "
        "of the sink: what it gains, the keys of the row lose.");
}

}  // namespace attn::view
