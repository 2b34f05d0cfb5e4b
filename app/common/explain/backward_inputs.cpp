// The chain rule of Q, K, V, X and the parameters: sums over keys, queries, heads and tokens.

#include <numeric>

#include <fmt/format.h>

#include "app/common/document/chain_rule.h"
#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/common/sheet.h"
#include "app/common/state.h"
#include "core/masks.h"
#include "core/spec_arrays.h"
#include "core/trace.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

/// What ∂L/∂scores[i, j] is multiplied with on its way to `side`, Stage::q or Stage::k: of a dot product the other side.
Chain score_chain(const AppState& state, Stage side, const std::string& pair, Index column,
                  std::string counts) {
    const bool query = side == Stage::q;
    const Stage other = read_by_scores(state, query ? Stage::k : Stage::q);
    Chain chain = chain_of(Stage::scores, pair, other,
                           fmt::format("{}, {}", query ? "j" : "i", column), std::move(counts));
    if (is_plain_product(state.document().spec)) return chain;
    const std::string slope = fmt::format(R"(\frac{{\partial \mathrm{{score}}}}{{\partial {}}})",
                                          tex_symbol(read_by_scores(state, side)));
    chain.right = side_of("w", slope, "∂score/∂" + name_of(read_by_scores(state, side)));
    return chain;
}

Expr score_factor(const AppState& state, Stage side, Slice slice, Index i, Index j, Index c) {
    if (!is_plain_product(state.document().spec))
        return plain(score_slope(state, slice, side, i, j, c));
    if (side == Stage::k)
        return stage_expr(state, From::values, read_by_scores(state, Stage::q), slice, i, c);
    const Stage keys = read_by_scores(state, Stage::k);
    return stage_expr(state, From::values, keys,
                      {slice.batch, head_in(state.document().size, info(keys).heads, slice.head)},
                      j, c);
}

void note_slopes(const AppState& state, Explanation& explanation, Stage side) {
    if (std::string text = slope_description(state.document().spec, side); !text.empty())
        explanation.notes.push_back(std::move(text));
}

// forward:  scores = Q Kᵀ  so  d_Q[i, c] = Σ_j d_scores[i, j] K[j, c]
void explain_query(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Slice slice{state.batch, state.head};
    const auto keys = contributing_keys(state, slice, cell.row);
    Chain chain = score_chain(state, Stage::q, tex_label(state, Axis::query, cell.row) + ", j",
                              cell.column, "key");
    for (Index j = 0; j < state.document().size.tk; ++j)
        if (keys[j] != 0)
            chain.add(stage_expr(state, From::gradients, Stage::scores, cell.row, j),
                      score_factor(state, Stage::q, slice, cell.row, j, cell.column),
                      axis_label(state, Axis::key, j));
    add_chain(state, explanation, std::move(chain), "j");
    note_slopes(state, explanation, Stage::q);
}

/// Adds the queries i of every head that reads the key or value of the cell's row: `term` makes the two factors.
template <class Term>
void add_readers(const AppState& state, Explanation& explanation, Chain chain, Term term) {
    const auto [first, end] = readers_of(state);
    const auto key = static_cast<std::size_t>(explanation.cell.row);
    for (Index h = first; h < end; ++h)
        for (Index i = 0; i < state.document().size.tq; ++i) {
            const Slice slice{state.batch, h};
            if (contributing_keys(state, slice, i)[key] == 0) continue;
            const std::string token = axis_label(state, Axis::query, i);
            auto [left, right] = term(slice, i);
            chain.add(std::move(left), std::move(right),
                      end - first == 1 ? token : fmt::format("{}, head {}", token, h));
        }
    add_chain(state, explanation, std::move(chain), "i");
}

// forward:  scores = Q Kᵀ  so  d_K[j, c] = Σ_i d_scores[i, j] Q[i, c], over every head that reads K
void explain_key(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    Chain chain = score_chain(state, Stage::k, "i, " + tex_label(state, Axis::key, cell.row),
                              cell.column, "query");
    add_readers(state, explanation, std::move(chain), [&](Slice slice, Index i) {
        return std::pair(stage_expr(state, From::gradients, Stage::scores, slice, i, cell.row),
                         score_factor(state, Stage::k, slice, i, cell.row, cell.column));
    });
    note_slopes(state, explanation, Stage::k);
}

// forward:  context = Ã V  so  d_V[j, c] = Σ_i Ã[i, j] d_context[i, c], over every head that reads V
void explain_value(const AppState& state, Explanation& explanation) {
    const CellRef cell = explanation.cell;
    const Stage weights = weight_stage(state.document());
    Chain chain = chain_of(Stage::context, fmt::format("i, {}", cell.column), weights,
                           "i, " + tex_label(state, Axis::key, cell.row), "query");
    add_readers(state, explanation, std::move(chain), [&](Slice slice, Index i) {
        return std::pair(stage_expr(state, From::gradients, Stage::context, slice, i, cell.column),
                         stage_expr(state, From::values, weights, slice, i, cell.row));
    });
}

/// One way from X to L: through a projection.
struct GradientPath {
    Stage stage;
    Param weight;
};

std::vector<GradientPath> paths_of(const AppState& state, Stage input) {
    const GradientPath q{Stage::q, Param::w_q};
    const GradientPath k{Stage::k, Param::w_k};
    const GradientPath v{Stage::v, Param::w_v};
    if (input == Stage::x_kv) return {k, v};
    if (!state.document().inputs->x_kv.empty()) return {q};
    return {q, k, v};
}

/// Σ_c d_Q[i, c] W_Q[m, c] of one head.
Chain through(const AppState& state, const GradientPath& path, Index head, const CellRef& cell) {
    const Stage input = std::get<Stage>(cell.tensor);
    const Index width = (*state.gradients)[path.stage].shape().d;
    Chain chain = chain_of(path.stage, tex_label(state, info(input).rows, cell.row) + ", c",
                           path.weight, fmt::format("{}, c", cell.column), "c");
    for (Index c = 0; c < width; ++c)
        chain.add(stage_expr(state, From::gradients, path.stage, {state.batch, head}, cell.row, c),
                  param_expr(state, path.weight, cell.column, head * width + c),
                  fmt::format("{}, {}", name_of(path.stage), c));
    return chain;
}

/// Each term, and the sum up to it.
InspectorTable term_table(std::string of, const std::vector<std::string>& labels,
                          const std::vector<double>& parts) {
    std::vector<double> running(parts.size());
    std::partial_sum(parts.begin(), parts.end(), running.begin());
    const auto part_texts = column_texts(parts);
    const auto sum_texts = column_texts(running);
    InspectorTable table{"", std::move(of), {{"term", {}}, {"sum", {}}}, {}, {}};
    for (std::size_t n = 0; n < std::min(parts.size(), kMostTableRows); ++n)
        table.rows.push_back({labels[n], {{part_texts[n], {}, {}}, {sum_texts[n], {}, {}}}});
    return table;
}

// forward:  Q = X W_Q, K = X W_K, V = X W_V  so  d_X = d_Q W_Qᵀ + d_K W_Kᵀ + d_V W_Vᵀ, over every head
void explain_input(const AppState& state, Explanation& explanation, Stage stage) {
    const CellRef cell = explanation.cell;
    std::vector<std::string> labels;
    std::vector<double> parts;
    std::vector<Expr> sums;
    std::string formula;
    for (const GradientPath& path : paths_of(state, stage)) {
        const Index heads = (*state.gradients)[path.stage].shape().h;
        std::vector<Expr> terms;
        std::string name;
        for (Index h = 0; h < heads; ++h) {
            const Chain chain = through(state, path, h, cell);
            const Expr products = products_of(chain);
            name = fmt::format("Σ {}·{}", chain.left.heading, chain.right.heading);
            parts.push_back(evaluate(products));
            labels.push_back(heads == 1 ? name_of(path.stage)
                                        : fmt::format("{}, head {}", name_of(path.stage), h));
            terms.insert(terms.end(), products.args.begin(), products.args.end());
        }
        Expr sum = combine(Op::sum, std::move(terms));
        const double value = evaluate(sum);
        explanation.steps.push_back({"through " + name_of(path.stage),
                                     "\\text{through }" + name_of(path.stage), std::move(sum),
                                     value, name});
        sums.push_back(plain(value));
        formula += fmt::format(R"({}{}\,{}^\top)", formula.empty() ? "" : " + ",
                               tex_gradient(path.stage), name_of(path.weight));
    }
    set_formula(explanation, std::move(formula));
    explanation.table = term_table("through", labels, parts);
    end_with(explanation, combine(Op::sum, std::move(sums)));
}

/// Adds row i of what the parameter makes, of every sequence; `factor` is what it is multiplied with.
template <class MakeFactor>
void add_tokens(const AppState& state, Chain& chain, Stage made, Index column, MakeFactor factor) {
    const Index head = state.head_in(info(made).heads);
    const Index batches = state.document().size.batch;
    for (const auto [b, i] : each_cell(batches, (*state.gradients)[made].shape().t)) {
        const std::string token = axis_label(state, info(made).rows, i);
        chain.add(stage_expr(state, From::gradients, made, {b, head}, i, column), factor(b, i),
                  batches > 1 ? fmt::format("{}, sequence {}", token, b) : token);
    }
}

// forward:  Q = X W_Q  so  d_W_Q[m, c] = Σ_i X[i, m] d_Q[i, c];  Y = concat W_O the same way
void explain_weights(const AppState& state, Explanation& explanation, Param param) {
    const CellRef cell = explanation.cell;
    const Projection made = projection_of(state, param);
    const Index width = state.document().size.d_v;
    const bool joins = param == Param::w_o;
    const Index head = joins ? cell.row / width : 0;
    const Index column = joins ? cell.row % width : cell.row;
    Chain chain = chain_of(made.output, fmt::format("i, {}", cell.column), made.input,
                           fmt::format("i, {}", cell.row), "token");
    add_tokens(state, chain, made.output, cell.column, [&](Index b, Index i) {
        return stage_expr(state, From::values, made.input, {b, head}, i, column);
    });
    add_chain(state, explanation, std::move(chain), "i");
}

// forward:  Q = X W_Q + b_Q  so  d_b_Q[c] = Σ_i d_Q[i, c]
void explain_bias(const AppState& state, Explanation& explanation, Param param) {
    const CellRef cell = explanation.cell;
    const Stage made = projection_of(state, param).output;
    Chain chain = chain_of(made, fmt::format("i, {}", cell.column), param, "", "token");
    chain.right.name = chain.right.heading = "1";
    add_tokens(state, chain, made, cell.column, [](Index, Index) { return constant(1.0); });
    const std::string summed = chain.left.tex;
    add_chain(state, explanation, std::move(chain), "i");
    set_formula(explanation, R"(\sum_i )" + summed);
    explanation.notes.emplace_back("The bias is added to every row.");
}

}  // namespace

Expr stage_expr(const AppState& state, From from, Stage stage, Slice slice, Index row,
                Index column) {
    const Tensor& tensor = (from == From::values ? *state.trace : *state.gradients)[stage];
    const Index batch = std::min(slice.batch, tensor.shape().b - 1);
    Expr expr = plain(tensor(batch, slice.head, row, column));
    expr.role = info(stage).role;
    if (slice.batch == state.batch && slice.head == state.head_in(info(stage).heads))
        expr.link = CellRef{stage, row, column};
    return expr;
}

Expr stage_expr(const AppState& state, From from, Stage stage, Index row, Index column) {
    return stage_expr(state, from, stage, {state.batch, state.head_in(info(stage).heads)}, row,
                      column);
}

Expr param_expr(const AppState& state, Param param, Index row, Index column) {
    Expr expr = plain(state.document().inputs->params[param](0, 0, row, column));
    expr.role = info(param).role;
    const HeadColumns part = head_columns(state, param);
    const Index own = column - part.first;
    if (part.count == 0 || (own >= 0 && own < part.count)) expr.link = CellRef{param, row, own};
    return expr;
}

std::pair<Index, Index> readers_of(const AppState& state) {
    const Dimensions& size = state.document().size;
    const Index each = std::max<Index>(size.heads / std::max<Index>(size.kv_heads, 1), 1);
    const Index first = state.head / each * each;
    return {first, first + each};
}

std::vector<std::uint8_t> contributing_keys(const AppState& state, Slice slice, Index i) {
    const Document& document = state.document();
    std::vector<std::uint8_t> keys(document.size.tk);
    fill_contributing(document.spec, document.size, slice.batch, slice.head, i, keys);
    return keys;
}

Chain chain_of(const OperandId& left, const std::string& left_index, const OperandId& right,
               const std::string& right_index, std::string counts) {
    return {side_of("d", tex_gradient(left, left_index), "∂L/∂" + name_of(left)),
            side_of("w", fmt::format("{}[{}]", tex_symbol(right), right_index), name_of(right)),
            {},
            std::move(counts)};
}

void add_chain(const AppState& state, Explanation& explanation, Chain chain,
               std::string_view index) {
    if (chain.labels.empty())
        return set_formula(explanation, R"(0\text{, the mask leaves nothing to add up})");
    add_sum(state, explanation, std::move(chain), index);
}

Projection projection_of(const AppState& state, Param param) {
    const Stage source = key_stage(state.document());
    if (param == Param::w_q || param == Param::b_q) return {Stage::x, Stage::q};
    if (param == Param::w_k || param == Param::b_k) return {source, Stage::k};
    if (param == Param::w_v || param == Param::b_v) return {source, Stage::v};
    return {Stage::context, Stage::output};
}

std::string slice_label(const AppState& state, Slice slice, Index i) {
    const Dimensions& size = state.document().size;
    std::string label = axis_label(state, Axis::query, i);
    if (size.heads > 1) label += fmt::format(", head {}", slice.head);
    if (size.batch > 1) label += fmt::format(", sequence {}", slice.batch);
    return label;
}

void add_terms(Explanation& explanation, std::string of, const std::vector<std::string>& labels,
               const std::vector<double>& parts) {
    explanation.table = term_table(std::move(of), labels, parts);
    std::vector<Expr> terms;
    for (const double part : parts) terms.push_back(plain(part));
    end_with(explanation, combine(Op::sum, std::move(terms))).brief =
        "the sum of " + counted(std::ssize(parts), "term");
}

void explain_vector_gradient(const AppState& state, Explanation& explanation, Stage stage) {
    const bool query = stage == Stage::q || stage == Stage::q_norm || stage == Stage::q_rot;
    const bool key = stage == Stage::k || stage == Stage::k_norm || stage == Stage::k_rot;
    if (state.document().spec.qk_norm && (stage == Stage::q || stage == Stage::k))
        return explain_norm_gradient(state, explanation, stage);
    if ((query || key) && read_by_scores(state, query ? Stage::q : Stage::k) != stage)
        return explain_rotation_gradient(state, explanation, stage);
    if (query) return explain_query(state, explanation);
    if (key) return explain_key(state, explanation);
    if (stage == Stage::v) return explain_value(state, explanation);
    explain_input(state, explanation, stage);
}

void explain_param_gradient(const AppState& state, Explanation& explanation, Param param) {
    if (info(param).use == ParamUse::sink) return explain_sink_gradient(state, explanation);
    if (info(param).use == ParamUse::score) return explain_score_param_gradient(state, explanation);
    if (info(param).use == ParamUse::norm)
        return explain_norm_weight_gradient(state, explanation, param);
    if (info(param).bias) return explain_bias(state, explanation, param);
    explain_weights(state, explanation, param);
}

}  // namespace attn::view
