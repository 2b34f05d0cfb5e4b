// Scores of every kind, forward and backward. i query row, j key row, c column, n column of a score's own matrix.
// Backward all kinds have one chain: d_q[i, c] = Σ_j d_scores[i, j] · ∂scores[i, j]/∂q[i, c]; core/scores has the same.

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/call.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::size_t kMostSums = 8;  // sums on the way to a score that have a line each

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

/// By core's own backward; the bias of a relative score, which adds to the product, has no part in it.
ScoreGradients score_gradients(const Document& document, const TensorD& q, const TensorD& k,
                               std::span<const double> d_scores) {
    AttentionSpec spec;
    spec.score = document.spec.score == Score::relative ? Score::dot : document.spec.score;
    spec.scale = document.spec.scale;
    InputsD inputs;
    inputs.q = q, inputs.k = inputs.v = k;
    for (const Param param : info(spec.score).params)
        inputs.params[param] = cast<double>(document.inputs->params[param]);
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

std::string sum_text(const Chain& chain) {
    return "the sum of " + counted(std::ssize(chain.labels), "product");
}

/// q · k on the way, with the table of its products.
Expr add_product(const AttentionSpec& spec, Explanation& explanation, const Chain& chain) {
    explanation.table = product_table(dot_of(chain));
    return explanation.add(as_read(spec, "q·k"), as_read(spec, R"(q \cdot k)", "'"),
                           products_of(chain), sum_text(chain));
}

Chain score_chain(const AppState& state, const CellRef& cell) {
    const Stage q = read_by_scores(state, Stage::q), k = read_by_scores(state, Stage::k);
    const auto side = [&](std::string letter, Stage stage, Axis axis, Index t) {
        return side_of(
            letter, fmt::format("{}[{}, c]", tex_symbol(stage), tex_label(state, axis, t)), letter);
    };
    Chain chain{side("q", q, Axis::query, cell.row), side("k", k, Axis::key, cell.column)};
    for (Index c = 0; c < state.document().d_k; ++c)
        chain.add(cell_expr(state, {q, cell.row, c}), cell_expr(state, {k, cell.column, c}),
                  std::to_string(c));
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

void forward_cosine(const AttentionSpec& spec, Explanation& explanation, const Chain& chain) {
    set_formula(explanation, as_read(spec, R"(\frac{q \cdot k}{\|q\| \, \|k\|})", "'"));
    const Expr product = add_product(spec, explanation, chain);
    const Expr q = explanation.add(as_read(spec, "‖q‖"), as_read(spec, R"(\|q\|)", "'"),
                                   length_of(chain.left.numbers), as_read(spec, "√Σ_c q_c²"));
    const Expr k = explanation.add(as_read(spec, "‖k‖"), as_read(spec, R"(\|k\|)", "'"),
                                   length_of(chain.right.numbers), as_read(spec, "√Σ_c k_c²"));
    if (q.value != 0.0 && k.value != 0.0) {
        end_with(explanation, product / (q * k));
        return;
    }
    explanation.notes.emplace_back("A row of length 0 has no direction: its cosines are 0.");
    end_with(explanation, constant(0.0));
}

/// One number of x W_score: a sum over c.
Expr column_sum(const AppState& state, const std::vector<Expr>& x, Param w, Index a) {
    std::vector<Expr> column;
    for (Index c = 0; c < std::ssize(x); ++c) column.push_back(cell_expr(state, {w, c, a}));
    return sum_of_products(x, column);
}

void forward_general(const AppState& state, Explanation& explanation, const Chain& pair) {
    const AttentionSpec& spec = state.document().spec;
    Chain chain{side_of("qW", as_read(spec, R"((q\,W_{\mathrm{score}})[n])", "'"), "q·W"),
                pair.right};
    chain.right.tex = fmt::format("{}[{}, n]", tex_symbol(read_by_scores(state, Stage::k)),
                                  tex_label(state, Axis::key, explanation.cell.column));
    chain.labels = pair.labels;
    chain.counts = "n";
    const bool few = pair.labels.size() <= kMostSums;
    for (Index a = 0; a < std::ssize(pair.labels); ++a) {
        const Expr sum = column_sum(state, pair.left.numbers, Param::w_score, a);
        chain.left.numbers.push_back(plain(evaluate(sum)));
        if (few)
            explanation.add(
                as_read(spec, fmt::format("(q W)[{}]", a)),
                as_read(spec, fmt::format(R"((q\,W_{{\mathrm{{score}}}})[{}])", a), "'"), sum,
                as_read(spec, fmt::format("Σ_c q_c·W_score[c, {}]", a)));
    }
    set_formula(explanation, sum_tex(chain, "n"));
    explanation.table = product_table(dot_of(chain));
    if (!few) explanation.notes.push_back(as_read(spec, "(q W)[n] = Σ_c q_c·W_score[c, n]."));
    end_with(explanation, products_of(chain)).brief = sum_text(chain);
}

void forward_additive(const AppState& state, Explanation& explanation, const Chain& pair) {
    const Tensor& w = state.document().inputs->params[Param::w_score_row];
    Chain chain{
        side_of("w", R"(w_{\mathrm{score}}[n])", "w"),
        side_of("t",
                as_read(state.document().spec,
                        R"(\tanh((q\,W_{\mathrm{score},q} + k\,W_{\mathrm{score},k})[n]))", "'"),
                "tanh")};
    chain.counts = "n";
    std::vector<Expr> terms;
    for (Index a = 0; a < w.shape().d; ++a) {
        const double of_query = evaluate(column_sum(state, pair.left.numbers, Param::w_score_q, a));
        const double of_key = evaluate(column_sum(state, pair.right.numbers, Param::w_score_k, a));
        const Expr tanh = combine(Op::tanh, {plain(of_query) + plain(of_key)});
        const Expr weight = cell_expr(state, {Param::w_score_row, 0, a});
        chain.add(weight, plain(evaluate(tanh)), std::to_string(a));
        terms.push_back(weight * tanh);
    }
    set_formula(explanation, sum_tex(chain, "n"));
    explanation.table = product_table(dot_of(chain));
    explanation.notes.push_back(
        as_read(state.document().spec,
                "Inside tanh: (q W_score_q)[n] and (k W_score_k)[n], each a sum over columns c."));
    end_with(explanation, combine(Op::sum, std::move(terms))).brief = sum_text(chain);
}

void forward_student_t(const AttentionSpec& spec, Explanation& explanation, const Chain& chain) {
    set_formula(explanation, as_read(spec, R"(-\ln(1 + \|q - k\|^2))", "'"));
    std::vector<Expr> squares;
    for (std::size_t c = 0; c < chain.labels.size(); ++c) {
        const Expr apart = chain.left.numbers[c] - chain.right.numbers[c];
        squares.push_back(combine(Op::power, {apart, constant(2.0)}));
    }
    const Expr distance =
        explanation.add(as_read(spec, "‖q − k‖²"), as_read(spec, R"(\|q - k\|^2)", "'"),
                        combine(Op::sum, std::move(squares)), as_read(spec, "Σ_c (q_c − k_c)²"));
    const Expr log = combine(Op::ln, {constant(1.0) + distance});
    end_with(explanation, constant(0.0) - log);
}

void forward_relative(const AppState& state, Explanation& explanation, const Chain& chain) {
    const AttentionSpec& spec = state.document().spec;
    const CellRef& cell = explanation.cell;
    const Index distance = cell.column - cell.row;
    set_formula(explanation, as_read(spec, R"(q \cdot k + b_{\mathrm{score}})", "'"));
    const Expr product = add_product(spec, explanation, chain);
    const Expr bias =
        cell_expr(state, {Param::b_score, state.head, distance + state.document().size.tq - 1});
    explanation.notes.push_back(fmt::format(
        "b_score is the bias of head {} for keys at distance j − i = {}.", state.head, distance));
    end_with(explanation, product + bias);
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
    add_shares(explanation, "query", labels, parts);
    explanation.notes.push_back(fmt::format("Each term is ∂L/∂scores[i, j] of head {}, j − i = {}.",
                                            explanation.cell.row, distance));
}

}  // namespace

Stage read_by_scores(const AppState& state, Stage side) {
    return std::get<Stage>(operand_of(state.document(), Stage::scores, side));
}

void explain_score(const AppState& state, Explanation& explanation) {
    const Chain chain = score_chain(state, explanation.cell);
    switch (state.document().spec.score) {
        case Score::dot:
            if (state.document().spec.scale == ScaleKind::q_and_k)
                return forward_scaled_operands(state, explanation, chain);
            add_deciding_notes(state, explanation, chain);
            return add_sum(state, explanation, chain, "c");
        case Score::cosine:
            return forward_cosine(state.document().spec, explanation, chain);
        case Score::general:
            return forward_general(state, explanation, chain);
        case Score::additive:
            return forward_additive(state, explanation, chain);
        case Score::student_t:
            return forward_student_t(state.document().spec, explanation, chain);
        case Score::relative:
            return forward_relative(state, explanation, chain);
    }
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
    const char own = query ? 'q' : 'k', other = query ? 'k' : 'q';
    std::string text;
    if (spec.scale == ScaleKind::q_and_k) text = fmt::format("∂score/∂{} = {} ÷ √d_k.", own, other);
    switch (spec.score) {
        case Score::dot:
        case Score::relative:
            break;
        case Score::cosine:
            text = fmt::format(
                "∂score/∂{0} = ({1} ÷ ‖{1}‖ − cos θ · {0} ÷ ‖{0}‖) ÷ ‖{0}‖, and 0 where a row has "
                "length 0.",
                own, other);
            break;
        case Score::general:
            text = query ? "∂score/∂q = W_score k." : "∂score/∂k = q W_score.";
            break;
        case Score::additive:
            text = fmt::format("∂score/∂{0} = W_score_{0} (w_score · (1 − tanh²)).", own);
            break;
        case Score::student_t:
            text = fmt::format("∂score/∂{0} = −2 ({0} − {1}) ÷ (1 + ‖q − k‖²).", own, other);
            break;
    }
    return as_read(spec, text);
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
    add_shares(explanation, "query", labels, parts);
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
    add_shares(explanation, "query", labels, parts);
    explanation.notes.emplace_back(
        "Each term is −a_sink · Σ_j A[i, j]·∂L/∂A[i, j], a_sink = exp(sink − ln Σ exp) the weight "
        "of the sink: what it gains, the keys of the row lose.");
}

}  // namespace attn::view
