// Scores of every kind, forward and backward. i query row, j key row, c column, n column of a score's own matrix.
// Backward all kinds have one chain: d_q[i, c] = Σ_j d_scores[i, j] · ∂scores[i, j]/∂q[i, c]; core/scores has the same.

#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "app/workspaces/step/explain_parts.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

using Numbers = std::vector<double>;

constexpr std::size_t kMostSums = 8;  // sums on the way to a score that have a line each

/// Row t of what the score reads of that side.
Numbers row_of(const AppState& state, Stage side, Slice slice, Index t) {
    const Stage stage = read_by_scores(state, side);
    const Tensor& tensor = (*state.trace)[stage];
    const Index head = head_in(state.document().size, info(stage).heads, slice.head);
    const auto row = tensor.matrix(std::min(slice.batch, tensor.shape().b - 1), head).row(t);
    return {row.begin(), row.end()};
}

/// x W
Numbers times(const Numbers& x, const Tensor& w) {
    Numbers y(static_cast<std::size_t>(w.shape().d));
    for (std::size_t a = 0; a < y.size(); ++a)
        for (std::size_t c = 0; c < x.size(); ++c)
            y[a] += x[c] * w(0, 0, static_cast<Index>(c), static_cast<Index>(a));
    return y;
}

/// Row c of W times y.
double row_times(const Tensor& w, Index c, const Numbers& y) {
    double sum = 0.0;
    for (std::size_t a = 0; a < y.size(); ++a) sum += w(0, 0, c, static_cast<Index>(a)) * y[a];
    return sum;
}

double dot(const Numbers& x, const Numbers& y) {
    return std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
}

/// One pair, and what its score reads.
struct Pair {
    const Params& params;
    Numbers q, k;

    Pair(const AppState& state, Slice slice, Index i, Index j)
        : params(state.document().inputs->params),
          q(row_of(state, Stage::q, slice, i)),
          k(row_of(state, Stage::k, slice, j)) {}

    /// Of the additive score: t = tanh(q W_score_q + k W_score_k).
    Numbers hidden() const {
        Numbers t = times(q, params[Param::w_score_q]);
        const Numbers of_key = times(k, params[Param::w_score_k]);
        for (std::size_t a = 0; a < t.size(); ++a) t[a] = std::tanh(t[a] + of_key[a]);
        return t;
    }
    /// w_score (1 − t²): ∂score/∂ what tanh is taken of.
    Numbers before_tanh() const {
        Numbers t = hidden();
        for (std::size_t a = 0; a < t.size(); ++a)
            t[a] = params[Param::w_score_row](0, 0, 0, static_cast<Index>(a)) * (1 - t[a] * t[a]);
        return t;
    }
};

double direction_slope(const Numbers& own, const Numbers& other, std::size_t c) {
    const double length = std::sqrt(dot(own, own));
    const double of_other = std::sqrt(dot(other, other));
    if (length == 0.0 || of_other == 0.0) return 0.0;
    const double cosine = dot(own, other) / (length * of_other);
    return (other[c] / of_other - cosine * own[c] / length) / length;
}

double squared_distance(const Numbers& q, const Numbers& k) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.size(); ++c) sum += (q[c] - k[c]) * (q[c] - k[c]);
    return sum;
}

/// ∂scores[i, j]/∂ one number of a parameter of the score, for all pairs of one head: of an additive score one column of
/// its hidden layer has a part in it.
class ParamSlopes {
  public:
    ParamSlopes(const AppState& state, Slice slice, const CellRef& cell)
        : param_(std::get<Param>(cell.tensor)) {
        const Dimensions& size = state.document().size;
        const Params& params = state.document().inputs->params;
        const bool additive = param_ != Param::w_score;
        const auto read = [&](Stage side, Index count, Param weight, Index at, Side& into) {
            for (Index t = 0; t < count; ++t) {
                const Numbers x = row_of(state, side, slice, t);
                if (param_ != Param::w_score_row) into.own.push_back(x[at]);
                if (!additive) continue;
                double sum = 0.0;
                for (std::size_t c = 0; c < x.size(); ++c)
                    sum += x[c] * params[weight](0, 0, static_cast<Index>(c), cell.column);
                into.hidden.push_back(sum);
            }
        };
        read(Stage::q, size.tq, Param::w_score_q, cell.row, q_);
        read(Stage::k, size.tk, Param::w_score_k, additive ? cell.row : cell.column, k_);
        if (additive) weight_ = params[Param::w_score_row](0, 0, 0, cell.column);
    }

    double operator()(std::size_t i, std::size_t j) const {
        if (param_ == Param::w_score) return q_.own[i] * k_.own[j];
        const double t = std::tanh(q_.hidden[i] + k_.hidden[j]);
        if (param_ == Param::w_score_row) return t;
        return (param_ == Param::w_score_q ? q_.own[i] : k_.own[j]) * weight_ * (1 - t * t);
    }

  private:
    struct Side {
        Numbers own;     // the column that the parameter's row multiplies
        Numbers hidden;  // its part of what tanh is taken of
    };
    Param param_;
    Side q_, k_;
    double weight_ = 0.0;
};

// ---- forward

/// Adds a step on the way; its result.
Expr add_step(Explanation& explanation, const std::string& label, const std::string& latex,
              Expr expr, std::string brief) {
    const double value = evaluate(expr);
    explanation.steps.push_back({label, latex, std::move(expr), value, std::move(brief)});
    return plain(value);
}

std::string sum_text(const Chain& chain) {
    return "the sum of " + counted(std::ssize(chain.labels), "product");
}

/// q · k on the way, with the table of its products.
Expr add_product(const AttentionSpec& spec, Explanation& explanation, const Chain& chain) {
    explanation.table = product_table(dot_of(chain));
    return add_step(explanation, as_read(spec, "q·k"), as_read(spec, R"(q \cdot k)", "'"),
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
    const Expr s =
        add_step(explanation, "s", "s", root, "what each query and key is multiplied by");
    for (Side* side : {&chain.left, &chain.right}) {
        for (Expr& number : side->numbers) number = plain(evaluate(s * number));
        side->heading = "s·" + side->heading;
        side->name = "s·" + side->name;
        side->tex = R"(s \cdot )" + side->tex;
    }
    explanation.notes.emplace_back("s is d_k^(−¼), so that s² is 1 ÷ √d_k.");
    add_sum(state, explanation, std::move(chain), "c");
}

Expr length_of(const std::vector<Expr>& row) {
    std::vector<Expr> squares;
    for (const Expr& number : row) squares.push_back(number * number);
    return combine(Op::sqrt, {combine(Op::sum, std::move(squares))});
}

void forward_cosine(const AttentionSpec& spec, Explanation& explanation, const Chain& chain) {
    set_formula(explanation, as_read(spec, R"(\frac{q \cdot k}{\|q\| \, \|k\|})", "'"));
    const Expr product = add_product(spec, explanation, chain);
    const Expr q = add_step(explanation, as_read(spec, "‖q‖"), as_read(spec, R"(\|q\|)", "'"),
                            length_of(chain.left.numbers), as_read(spec, "√Σ_c q_c²"));
    const Expr k = add_step(explanation, as_read(spec, "‖k‖"), as_read(spec, R"(\|k\|)", "'"),
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
    std::vector<Expr> terms;
    for (std::size_t c = 0; c < x.size(); ++c)
        terms.push_back(x[c] * cell_expr(state, {w, static_cast<Index>(c), a}));
    return combine(Op::sum, std::move(terms));
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
            add_step(explanation, as_read(spec, fmt::format("(q W)[{}]", a)),
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
        add_step(explanation, as_read(spec, "‖q − k‖²"), as_read(spec, R"(\|q - k\|^2)", "'"),
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
    const Pair pair(state, slice, i, j);
    const bool query = side == Stage::q;
    const Numbers& own = query ? pair.q : pair.k;
    const Numbers& other = query ? pair.k : pair.q;
    const auto column = static_cast<std::size_t>(c);
    switch (state.document().spec.score) {
        case Score::dot:
        case Score::relative:
            return std::pow(operand_factor(state.document().spec, state.document().d_k), 2) *
                   other[column];
        case Score::cosine:
            return direction_slope(own, other, column);
        case Score::general:
            return query ? row_times(pair.params[Param::w_score], c, other)
                         : times(other, pair.params[Param::w_score])[column];
        case Score::additive:
            return row_times(pair.params[query ? Param::w_score_q : Param::w_score_k], c,
                             pair.before_tanh());
        case Score::student_t:
            return -2.0 * (own[column] - other[column]) / (1.0 + squared_distance(own, other));
    }
    return 0.0;
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
    std::vector<std::string> labels;
    std::vector<double> parts;
    for (const auto [b, h] : each_cell(size.batch, size.heads)) {
        const Slice slice{b, h};
        const ParamSlopes slope(state, slice, explanation.cell);
        for (Index i = 0; i < size.tq; ++i) {
            const auto keys = contributing_keys(state, slice, i);
            double sum = 0.0;
            for (std::size_t j = 0; j < keys.size(); ++j)
                if (keys[j] != 0)
                    sum += stage_expr(state, From::gradients, Stage::scores, slice, i,
                                      static_cast<Index>(j))
                               .value *
                           slope(static_cast<std::size_t>(i), j);
            parts.push_back(sum);
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
