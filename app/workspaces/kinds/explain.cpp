// q, k a query's and a key's row, ′ turned by its position; S scaled score, B with cap and ALiBi, a weight.
// φ(x) = elu(x) + 1; A_in, A_out what latents and tokens take; A′, B′, C of the state space.

#include "app/workspaces/kinds/explain.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/explain/parts.h"
#include "app/common/format.h"
#include "app/workspaces/kinds/compute.h"
#include "core/bias.h"
#include "core/scores/pair_rule.h"
#include "core/scores/score.h"
#include "core/softmax.h"
#include "core/tex.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace kinds {
namespace {

constexpr std::size_t kMostTerms = 8;  // of a sum or a vector that is written out
constexpr Index kMostPairs = 2;        // of turned columns that are written out

using Row = std::vector<double>;

/// Σ x_c · y_c.
Expr products(const Row& x, Role x_role, const Row& y, Role y_role) {
    return sum_of_products(numbers_of(x, x_role), numbers_of(y, y_role));
}

/// "Σ of 12 products": in place of many.
std::string sum_text(const Row& x) { return fmt::format("Σ of {} products", x.size()); }

/// "(0.30, 0.50, …)".
std::string listed(const Row& x) {
    std::string text;
    for (std::size_t c = 0; c < std::min(x.size(), kMostTerms); ++c)
        text += (c == 0 ? "" : ", ") + number(x[c]);
    return "(" + text + (x.size() > kMostTerms ? ", …)" : ")");
}

/// What goes into one pair's number.
struct Pair {
    const KindComputed& side;
    const KindsResult& result;
    Index i, j;
    Explanation& out;

    Row row_of(const TensorD& tensor, Index t) const {
        const auto row = tensor.matrix(0, std::min(side.head, tensor.shape().h - 1)).row(t);
        return {row.begin(), row.end()};
    }
    Row made_row(std::string_view key, Index t) const {  // of the operation's own stages
        const auto row = side.made_of(key).row(t);
        return {row.begin(), row.end()};
    }
    bool turns() const { return side.spec.rope.has_value(); }
    Row q() const { return row_of(turns() ? side.trace[Stage::q_rot] : side.inputs.q, i); }
    Row k() const { return row_of(turns() ? side.trace[Stage::k_rot] : side.inputs.k, j); }
    std::string q_name() const { return turns() ? "q′" : "q"; }
    std::string k_name() const { return turns() ? "k′" : "k"; }
    Index position() const { return i + result.document->size.query_offset; }
    double at(Stage stage) const { return side.stage(stage)(i, j); }
    const TensorD& param(Param which) const { return side.inputs.params[which]; }

    /// `brief` stands in place of many numbers.
    void add(std::string label, Expr expr, double result_of, std::string brief = "") const {
        out.steps.push_back({std::move(label), "", std::move(expr), result_of, std::move(brief)});
    }
    void add(std::string label, std::string text, double result_of) const {
        add(std::move(label), combine(Op::sum, {}), result_of, std::move(text));
    }
    void note(std::string text) const { out.notes.push_back(std::move(text)); }
};

// ---- positions

/// "(q₀, q₂) by 1 · 0.01 rad: (0.30, 0.50) → (0.29, 0.51)": the first pairs of columns.
void add_turns(const Pair& pair, const std::string& letter, Index position, const Row& from,
               const Row& to) {
    const Rope& rope = *pair.side.spec.rope;
    const Index dims = rope.dims.value_or(static_cast<Index>(from.size()));
    const bool half = rope.pairs == RopePairs::half;
    for (Index c = 0; c < std::min(dims / 2, kMostPairs); ++c) {
        const auto first = static_cast<std::size_t>(half ? c : 2 * c);
        const auto second = static_cast<std::size_t>(half ? c + dims / 2 : 2 * c + 1);
        const double speed = rope_frequency(rope, c, dims);
        pair.note(fmt::format(
            "{0}{1}, {0}{2} rotate by {3} · {4} = {5} rad: ({6}, {7}) → ({8}, {9}).", letter, first,
            second, position, number(speed), number(static_cast<double>(position) * speed),
            number(from[first]), number(from[second]), number(to[first]), number(to[second])));
    }
    if (dims / 2 > kMostPairs)
        pair.note(fmt::format("The same for {} of columns of {}.",
                              counted(dims / 2 - kMostPairs, "more pair"), letter));
}

void note_turns(const Pair& pair) {
    if (!pair.turns()) return;
    add_turns(pair, "q", pair.position(), pair.row_of(pair.side.inputs.q, pair.i), pair.q());
    add_turns(pair, "k", pair.j, pair.row_of(pair.side.inputs.k, pair.j), pair.k());
}

// ---- scores

/// As Step explains it, by the formula of the score's row.
void add_score(const Pair& pair) {
    const auto numbers = [](const Row& row, Role role) { return numbers_of(row, role); };
    ScorePair read{numbers(pair.q(), Role::query), numbers(pair.k(), Role::key), "q[i", "k[j"};
    read.head = pair.side.head;
    read.distance = pair.j - pair.i;
    read.columns = [&](Param param) { return pair.param(param).shape().d; };
    read.param = [&](Param param, Index row, Index column) {
        return plain(pair.param(param)(0, 0, row, column), Role::score);
    };
    read.of_distance = [&](Param param) {
        return plain(
            pair.param(param)(0, 0, read.head, read.distance + pair.result.document->size.tq - 1),
            Role::score);
    };
    Explanation part;
    part.name = is_plain_product(pair.side.spec)
                    ? fmt::format("{}·{}", pair.q_name(), pair.k_name())
                    : "score";
    part.value = pair.at(Stage::scores);
    explain_pair(pair.side.spec, read, part);
    std::ranges::move(part.steps, std::back_inserter(pair.out.steps));
    std::ranges::move(part.notes, std::back_inserter(pair.out.notes));
}

/// S = score ÷ √d_k ÷ τ; nothing where neither divides.
void add_scaling(const Pair& pair) {
    const AttentionKind& kind = pair.side.kind;
    if (!kind.scaled && kind.temperature == 1.0) return;
    pair.add("S",
             scaled_expr(pair.side.spec, pair.result.call.q.shape().d,
                         plain(pair.at(Stage::scores), Role::score)),
             pair.at(Stage::scaled));
}

void add_cap(const Pair& pair, double from, double capped) {
    const std::string cap = number(pair.side.kind.softcap);
    pair.add("cap", fmt::format("{0} · tanh({1} ÷ {0})", cap, factor(number(from))), capped);
}

void add_slope(const Pair& pair, double from) {
    const auto distance = static_cast<double>(std::abs(pair.position() - pair.j));
    pair.add("B", plain(from, Role::score) - plain(pair.side.slope) * constant(distance),
             pair.at(Stage::biased));
    pair.note(fmt::format("slope · |{} − {}|: the slope of head {} of {} is {}.", pair.position(),
                          pair.j, pair.side.head, pair.side.slope_heads, number(pair.side.slope)));
}

void add_biases(const Pair& pair) {
    const double cap = pair.side.kind.softcap;
    double now = pair.at(Stage::scaled);
    const AttentionSpec& spec = pair.side.spec;
    const auto add_bias = [&] {
        const double bias = bias_at(spec.mask, 0, pair.side.head, pair.i, pair.j);
        pair.add("bias", plain(now, Role::score) + plain(bias), now + bias);
        now += bias;
    };
    if (spec.mask.bias && spec.bias_before_softcap) add_bias();
    if (cap != 0.0) {
        const double capped = PairRule{cap, 0.0}.biased(now, 0, 0);
        add_cap(pair, std::exchange(now, capped), capped);
    }
    if (spec.mask.bias && !spec.bias_before_softcap) add_bias();
    if (pair.side.slope != 0.0) add_slope(pair, now);
}

// ---- softmax

void add_softmax(const Pair& pair) {
    const auto masked = pair.side.stage(Stage::masked).row(pair.i);
    const std::optional<double>& sink = pair.side.kind.sink;
    Row logits(masked.begin(), masked.end());
    if (sink) logits.insert(logits.begin(), *sink);
    Row shares(logits.size());
    const SoftmaxRow sides = softmax_row(logits, shares, EmptyRows::zero);
    const Index keys = pair.side.allowed_of_row[pair.i];
    const double own = std::exp(pair.at(Stage::masked) - sides.max);
    pair.add("m", fmt::format("max of {}{}", counted(keys, "score"), sink ? " and the sink" : ""),
             sides.max);
    pair.add("exp(M − m)",
             combine(Op::exp, {plain(pair.at(Stage::masked), Role::score) - plain(sides.max)}),
             own);
    std::string text = fmt::format("over {}", counted(keys, "key"));
    if (sink)
        text += fmt::format(", and exp({} − m) = {} of the sink", number(*sink),
                            number(std::exp(*sink - sides.max)));
    pair.add("Σ exp", std::move(text), sides.sum);
    pair.add("a", plain(own) / plain(sides.sum), pair.out.value);
}

/// "the row is empty", "a score of it is NaN": why there is no softmax to write out.
std::string trouble_of(const Pair& pair) {
    if (!pair.side.may(pair.i, pair.j)) {
        if (pair.side.allowed_of_row[pair.i] > 0 || pair.side.kind.sink)
            return "The mask forbids the pair: its weight is exactly 0.";
        return pair.side.spec.empty_rows == EmptyRows::zero
                   ? "The mask allows no key for this query, so its weights are 0."
                   : "The mask allows no key for this query, so its weights are NaN.";
    }
    if (!std::isfinite(pair.out.value))
        return "A score of the row is NaN or ∞, so its weights are NaN.";
    return {};
}

void explain_scores(const Pair& pair) {
    const std::string trouble = trouble_of(pair);
    if (!trouble.empty()) pair.note(trouble);
    note_turns(pair);
    add_score(pair);
    add_scaling(pair);
    add_biases(pair);
    if (trouble.empty()) add_softmax(pair);
    if (pair.side.kind.operation == Operation::chunked)
        pair.note(fmt::format(
            "Processed {} at a time, with m and Σ rescaled in between, the weight is {}.",
            counted(pair.side.kind.chunk, "key"), number(pair.out.value)));
}

// ---- in place of softmax

void add_linear(const Pair& pair) {
    const Row q = pair.made_row("phi_q", pair.i);
    const Row k = pair.made_row("phi_k", pair.j);
    pair.note(fmt::format("φ(x) = elu(x) + 1: φ(q) = {}, φ(k) = {}.", listed(q), listed(k)));
    const Expr product = products(q, Role::query, k, Role::key);
    const double sum = pair.side.made_of("denominator")(pair.i, 0);
    pair.add("φ(q)·φ(k)", product, evaluate(product), sum_text(q));
    pair.add("φ(q)·z", "z is the sum of φ(k) over the keys that the query may see", sum);
    pair.add("a", plain(evaluate(product)) / plain(sum), pair.out.value);
}

/// Â = A_out A_in.
void add_latents(const Pair& pair) {
    const Row out = pair.made_row("weights_out", pair.i);
    const auto in = pair.side.made_of("weights_in");
    Row column;
    for (Index m = 0; m < in.rows; ++m) column.push_back(in(m, pair.j));
    pair.note(fmt::format("Weights of the query on the latents: {}.", listed(out)));
    pair.note(fmt::format("Weight of the key in each latent: {}.", listed(column)));
    pair.add("a", products(out, Role::query, column, Role::key), pair.out.value, sum_text(out));
}

/// Â = A_low F, F the projection of the values.
void add_linformer(const Pair& pair) {
    const Row low = pair.made_row("weights_low", pair.i);
    const auto f = pair.side.fresh.tensors[1].matrix(0, pair.side.head);
    Row column;
    for (Index m = 0; m < f.rows; ++m) column.push_back(f(m, pair.j));
    pair.note(fmt::format("Weights of the query on the rows: {}.", listed(low)));
    pair.note(
        fmt::format("Weight of the value in each row: {}, from F, random here.", listed(column)));
    pair.add("a", products(low, Role::query, column, Role::value), pair.out.value, sum_text(low));
}

/// Σ_n C_i (A′ of the tokens between) B′_j of each column of V, and their mean.
void add_state_space(const Pair& pair) {
    if (pair.j > pair.i)
        return pair.note("The key comes after the query: a recurrence only looks back.");
    const Row c = pair.made_row("c", pair.i);
    const auto states = std::ssize(c);
    const auto a_bar = pair.side.made_of("a_bar");
    const auto b_bar = pair.side.made_of("b_bar");
    const Index columns = b_bar.columns / states;
    std::vector<Expr> each;
    for (Index v = 0; v < columns; ++v) {
        double sum = 0.0;
        for (Index n = 0; n < states; ++n) {
            double carried = b_bar(pair.j, v * states + n);
            for (Index t = pair.j + 1; t <= pair.i; ++t) carried *= a_bar(t, v * states + n);
            sum += c[n] * carried;
        }
        each.push_back(plain(sum));
    }
    pair.note(fmt::format("C of the query: {}.", listed(c)));
    pair.note(
        fmt::format("Each column of V has its own weight, Σ_n C · A′ · B′ over {}, A′ taken "
                    "{}: this is their mean. D also adds the token's own value.",
                    counted(states, "state"), counted(pair.i - pair.j, "time")));
    const Expr sum = combine(Op::sum, std::move(each));
    pair.add("Σ", sum, evaluate(sum), fmt::format("Σ of {} columns' weights", columns));
    pair.add("a", plain(evaluate(sum)) / constant(columns), pair.out.value);
}

/// scale · q carried back over the tokens after the key, times the key.
void add_recurrence(const Pair& pair) {
    if (pair.j > pair.i)
        return pair.note("The key comes after the query: a recurrence only looks back.");
    const bool delta = pair.side.kind.replaces();
    const auto decay = pair.side.made_of("decay");
    const auto gate = [&](Index t, std::size_t a) {
        return decay(t, decay.columns > 1 ? static_cast<Index>(a) : 0);
    };
    const auto key = [&](Index t) {
        return delta ? pair.made_row("k_unit", t) : pair.made_row("k", t);
    };
    const auto strength = [&](Index t) {
        return delta ? pair.side.fresh.tensors[1].matrix(0, pair.side.head)(t, 0) : 1.0;
    };
    Row w = delta ? pair.made_row("q_unit", pair.i) : pair.made_row("q", pair.i);
    if (delta)
        pair.note(fmt::format("Of length 1: q = {}, k = {}.", listed(w), listed(key(pair.j))));
    for (Index t = pair.i; t > pair.j; --t) {
        const Row k = key(t);
        double along = 0.0;
        for (std::size_t a = 0; a < k.size(); ++a) along += w[a] * k[a];
        for (std::size_t a = 0; a < k.size(); ++a)
            w[a] = gate(t, a) * (w[a] - (delta ? strength(t) * along * k[a] : 0.0));
    }
    if (pair.i > pair.j)
        pair.note(
            fmt::format("Each later token multiplies the state by its α{}: after {} the "
                        "query reads it as w = {}.",
                        delta ? " and replaces β of the part along its own key" : "",
                        counted(pair.i - pair.j, "token"), listed(w)));
    const Expr product = products(w, Role::query, key(pair.j), Role::key);
    pair.add(pair.i > pair.j ? "w·k" : "q·k", product, evaluate(product), sum_text(w));
    Expr weight = plain(evaluate(product)) * plain(pair.side.factor);
    if (delta) weight = std::move(weight) * plain(strength(pair.j));
    pair.add("a", weight, pair.out.value,
             delta ? "the product, times the scale, times β of the key"
                   : "the product, times the scale");
}

/// The weight of softmax, times the mean of the row's gates.
void add_gated(const Pair& pair) {
    const Row open = pair.made_row("gate_open", pair.i);
    pair.note(fmt::format("Gate of the query's token: {}.", listed(open)));
    std::vector<Expr> each;
    for (const double gate : open) each.push_back(plain(gate));
    const Expr mean = combine(Op::sum, std::move(each)) / constant(Index{std::ssize(open)});
    pair.add("gate", mean, evaluate(mean), "the mean of the columns");
    const double weight = pair.side.made_of("weights")(pair.i, pair.j);
    pair.add("a", plain(weight) * plain(evaluate(mean)), pair.out.value,
             "softmax's weight, times the gate");
}

/// Â = A_1 − λ A_2.
void add_differential(const Pair& pair) {
    const double first = pair.side.made_of("weights_1")(pair.i, pair.j);
    const double second = pair.side.made_of("weights_2")(pair.i, pair.j);
    const double lambda = pair.side.fresh.tensors.front()(0, pair.side.head, 0, 0);
    pair.note(fmt::format(
        "Softmax over the first half of the columns of q and k gives {}, over the second {}.",
        number(first), number(second)));
    pair.add("a", plain(first) - plain(lambda) * plain(second), pair.out.value, "A_1 − λ A_2");
}

/// Â = g_c P_c / l + g_s P_s + g_w P_w.
void add_nsa(const Pair& pair) {
    const auto& gates = pair.side.fresh.tensors;
    const auto gate = [&](std::size_t branch) {
        return plain(gates[branch](0, pair.side.head, pair.i, 0));
    };
    const Index length = pair.side.operation_spec.chunk, block = pair.j / length;
    const double compressed = pair.side.made_of("weights_cmp")(pair.i, block);
    const double selected = pair.side.made_of("weights_slc")(pair.i, pair.j);
    const double window = pair.side.made_of("weights_win")(pair.i, pair.j);
    const double score = pair.side.made_of("scores_cmp")(pair.i, block);
    if (std::isinf(score))
        pair.note(
            fmt::format("The query may not attend to all {} keys of block {}: the block has "
                        "no compressed key.",
                        length, block));
    else {
        const auto scaled = pair.side.made_of("scaled").row(pair.i);
        std::vector<Expr> each;
        for (Index j = block * length; j < (block + 1) * length; ++j)
            each.push_back(plain(scaled[j], Role::score));
        pair.add("S_c", combine(Op::sum, std::move(each)) / constant(length), score,
                 fmt::format("the mean score of block {}", block));
        pair.add("P_c", fmt::format("softmax over the compressed keys, at block {}", block),
                 compressed);
    }
    pair.add("P_s", "softmax over the keys of the selected blocks", selected);
    pair.add("P_w", "softmax over the keys of the window", window);
    pair.add("a",
             gate(0) * plain(compressed) / constant(length) + gate(1) * plain(selected) +
                 gate(2) * plain(window),
             pair.out.value, "each branch times the query's gate");
}

/// Of any operation: each stage that has a number for the pair, by the formula of its row.
void add_stages(const Pair& pair) {
    for (const OperationStage& row : info(pair.side.kind.operation).stages) {
        const bool of_pairs = row.rows == Axis::query && row.columns == Axis::key;
        if (!of_pairs || pair.side.made[row.key].empty()) continue;
        const bool last = row.key == "implied";
        const double value = pair.side.made_of(row.key)(pair.i, pair.j);
        pair.add(last ? "a" : std::string(row.symbol), tex::plain_text(row.tex),
                 last ? pair.out.value : value);
    }
}

/// The weight of an operation that has no scores of pairs.
void add_in_place(const Pair& pair) {
    if (!pair.side.may(pair.i, pair.j)) return pair.note("The mask forbids the pair.");
    if (pair.side.kind.operation == Operation::linear) return add_linear(pair);
    if (pair.side.kind.operation == Operation::latents) return add_latents(pair);
    if (pair.side.kind.operation == Operation::linformer) return add_linformer(pair);
    if (pair.side.kind.operation == Operation::state_space) return add_state_space(pair);
    if (pair.side.kind.operation == Operation::gated) return add_gated(pair);
    if (pair.side.kind.operation == Operation::differential) return add_differential(pair);
    if (pair.side.kind.operation == Operation::nsa) return add_nsa(pair);
    if (pair.side.kind.recurs()) return add_recurrence(pair);
    add_stages(pair);
}

}  // namespace
}  // namespace kinds

Explanation explain_kind(const KindComputed& side, const KindsResult& result, Index row,
                         Index column) {
    Explanation out;
    out.cell = {Stage::weights, row, column};
    out.value = side.weights()(row, column);
    const kinds::Pair pair{side, result, row, column, out};
    side.has_scores() ? kinds::explain_scores(pair) : kinds::add_in_place(pair);
    return out;
}

}  // namespace attn::view
