// The counts of core/cost.h against loops over numbers that count their own arithmetic. Each loop gives the context of the operation, so that
// the counted arithmetic is that of the operation; no loop reads a formula.
// n sizes, h head, g key/value head, i query, j key, a column of Q and K, c column of V or of a latent.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "core/call.h"
#include "core/cost.h"
#include "core/engine.h"
#include "core/mla.h"
#include "core/operations/operation.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;
using enum attn::CostSize;

namespace {

Index flops = 0;

/// A number whose every operation is counted once.
struct Counted {
    double value = 0.0;
    Counted() = default;
    Counted(double of) : value(of) {}  // NOLINT: a number is one
};
Counted counted(double value) { return ++flops, Counted(value); }
Counted operator+(Counted a, Counted b) { return counted(a.value + b.value); }
Counted operator-(Counted a, Counted b) { return counted(a.value - b.value); }
Counted operator*(Counted a, Counted b) { return counted(a.value * b.value); }
Counted operator/(Counted a, Counted b) { return counted(a.value / b.value); }
Counted& operator+=(Counted& a, Counted b) { return a = a + b; }
bool operator<(Counted a, Counted b) { return ++flops, a.value < b.value; }
Counted exp_of(Counted a) { return counted(std::exp(a.value)); }
Counted log_of(Counted a) { return counted(std::log(a.value)); }
Counted root_of(Counted a) { return counted(std::sqrt(a.value)); }
Counted minus(Counted a) { return {-a.value}; }  // a sign costs nothing

using Row = std::vector<Counted>;

/// B 2, H 6, G 3, T 5 (Tk 7 where keys may be others), d_k 4, d_v 3, d_c 5, d_r 2, N 3, fp32 and two layers.
CostSizes sizes_of(Index tq, Index tk) {
    CostSizes sizes;
    sizes.values = {2, 6, 3, tq, tk, 8, 4, 3, 8, 128, 4, 2, 5, 2, 3};
    return sizes;
}
Index heads_of_group(const CostSizes& n) { return n[heads] / n[kv_heads]; }

Inputs inputs_of(const CostSizes& n) {
    Inputs in;
    in.q = normal_tensor<float>({n[batch], n[heads], n[tq], n[d_k]}, 1);
    in.k = normal_tensor<float>({n[batch], n[kv_heads], n[tk], n[d_k]}, 2);
    in.v = normal_tensor<float>({n[batch], n[kv_heads], n[tk], n[d_v]}, 3);
    return in;
}
Counted at(const Tensor& x, Index b, Index h, Index t, Index c) {
    return static_cast<double>(x(b, h, t, c));
}
Row row_of(const Tensor& x, Index b, Index h, Index t) {
    Row row;
    for (Index c = 0; c < x.shape().d; ++c) row.push_back(at(x, b, h, t, c));
    return row;
}
Counted dot(const Row& x, const Row& y) {
    Counted sum;
    for (std::size_t a = 0; a < x.size(); ++a) sum += x[a] * y[a];
    return sum;
}

/// Compare, subtract, exp, add, divide.
Row softmax(const Row& scores) {
    Counted most = -std::numeric_limits<double>::infinity();
    for (const Counted& score : scores)
        if (most < score) most = score;
    Row weights;
    Counted sum;
    for (const Counted& score : scores) {
        weights.push_back(exp_of(score - most));
        sum += weights.back();
    }
    for (Counted& weight : weights) weight = weight / sum;
    return weights;
}
Row weights_of(const std::vector<Row>& keys, const Row& q, double scale) {
    Row scores;
    for (const Row& k : keys) scores.push_back(dot(q, k) * scale);
    return softmax(scores);
}
Row mixed(const Row& weights, const std::vector<Row>& values) {
    Row made(values.front().size());
    for (std::size_t j = 0; j < values.size(); ++j)
        for (std::size_t c = 0; c < made.size(); ++c) made[c] += weights[j] * values[j][c];
    return made;
}
std::vector<Row> rows_of(const Tensor& x, Index b, Index h) {
    std::vector<Row> rows;
    for (Index t = 0; t < x.shape().t; ++t) rows.push_back(row_of(x, b, h, t));
    return rows;
}
Row part(const Row& x, std::size_t first, std::size_t count) {
    return {x.begin() + static_cast<std::ptrdiff_t>(first),
            x.begin() + static_cast<std::ptrdiff_t>(first + count)};
}
double root(Index n) { return 1.0 / std::sqrt(static_cast<double>(n)); }

/// The context of loops, their FLOP, and the numbers that they hold for the next token.
struct Ran {
    Tensor context;
    Index flop = 0, held = 0;
};

/// row(b, h, i) of every query.
Ran every_row(const CostSizes& n, Index width,
              const std::function<Row(Index b, Index h, Index i)>& row) {
    Ran ran{Tensor({n[batch], n[heads], n[tq], width})};
    for (Index b = 0; b < n[batch]; ++b)
        for (Index h = 0; h < n[heads]; ++h)
            for (Index i = 0; i < n[tq]; ++i) {
                const Row made = row(b, h, i);
                for (Index c = 0; c < width; ++c)
                    ran.context(b, h, i, c) =
                        static_cast<float>(made[static_cast<std::size_t>(c)].value);
            }
    return ran;
}

void check_near(const Tensor& mine, const Tensor& theirs) {
    REQUIRE(mine.shape() == theirs.shape());
    for (std::size_t e = 0; e < mine.values().size(); ++e)
        CHECK(std::as_const(mine).values()[e] ==
              doctest::Approx(std::as_const(theirs).values()[e]).epsilon(1e-5));
}

void check_counts(CostOperation operation, const CostSizes& n, const Ran& ran) {
    CAPTURE(cost_operations()[static_cast<std::size_t>(operation)].key);
    const OperationCounts counts = operation_counts(operation);
    CHECK(*count_of(counts.flop, n) == ran.flop);
    CHECK(*count_of(counts.held, n) == ran.held * n[element_bytes] * n[layers]);
    if (counts.each_token.empty()) {
        CostSizes more = n;
        more[tk] += 1;
        CHECK(*count_of(counts.held, more) == *count_of(counts.held, n));
    } else {
        CHECK(n[tk] * *count_of(counts.each_token, n) == *count_of(counts.held, n));
    }
}

/// Of the operation's own engine, at these parameters.
Tensor context_of(Operation operation, const Inputs& in, const OperationParams& params,
                  OperationSpec spec = {}) {
    spec.operation = operation;
    const auto call = validate(in, AttentionSpec{});
    REQUIRE(call);
    const auto run = run_operation(spec, *call, params);
    REQUIRE_MESSAGE(run, (run ? "" : run.error().text()));
    return (*run)["context"];
}
OperationParams fresh(Operation operation, const CostSizes& n, const Inputs& in) {
    OperationSpec spec;
    spec.operation = operation;
    spec.state = n[states];
    return initial_params(spec, validate(in, AttentionSpec{}).value().size());
}
/// Numbers of the keys and values of every token.
Index cached(const Inputs& in) { return in.k.count() + in.v.count(); }

// ---- recurrences

struct Recurrence {
    bool channels, delta, per_token;
};

Row unit(const Row& x) {
    Counted squares = 1e-6;
    for (const Counted& each : x) squares += each * each;
    const Counted length = root_of(squares);
    Row made;
    for (const Counted& each : x) made.push_back(each / length);
    return made;
}

Ran recurrent(const CostSizes& n, const Inputs& in, const OperationParams& params,
              const Recurrence& rule) {
    Ran ran{Tensor({n[batch], n[heads], n[tq], n[d_v]})};
    const Index width = n[d_v];
    const auto alpha_at = [&](Index b, Index h, Index i, Index a) {
        const Tensor& log = params.tensors.front();
        return at(log, rule.per_token ? b : 0, h, rule.per_token ? i : 0, rule.channels ? a : 0);
    };
    for (Index b = 0; b < n[batch]; ++b) {
        std::vector<std::vector<Row>> keys;  // of each group
        for (Index g = 0; g < n[kv_heads]; ++g) {
            keys.push_back(rows_of(in.k, b, g));
            if (rule.delta)
                for (Row& k : keys.back()) k = unit(k);
        }
        for (Index h = 0; h < n[heads]; ++h) {
            const Index g = h / heads_of_group(n);
            std::vector<Row> state(static_cast<std::size_t>(n[d_k]),
                                   Row(static_cast<std::size_t>(width)));
            for (Index i = 0; i < n[tq]; ++i) {
                const Row& k = keys[static_cast<std::size_t>(g)][static_cast<std::size_t>(i)];
                Row q = row_of(in.q, b, h, i), v = row_of(in.v, b, g, i);
                if (rule.delta) q = unit(q);
                Counted shared;
                if (!rule.channels) shared = exp_of(alpha_at(b, h, i, 0));
                for (std::size_t a = 0; a < state.size(); ++a) {
                    const Counted alpha =
                        rule.channels ? exp_of(alpha_at(b, h, i, static_cast<Index>(a))) : shared;
                    for (Counted& entry : state[a]) entry = alpha * entry;
                }
                for (std::size_t c = 0; rule.delta && c < v.size(); ++c) {
                    Counted old;
                    for (std::size_t a = 0; a < state.size(); ++a) old += state[a][c] * k[a];
                    v[c] = at(params.tensors[1], b, h, i, 0) * (v[c] - old);
                }
                for (std::size_t a = 0; a < state.size(); ++a)
                    for (std::size_t c = 0; c < v.size(); ++c) state[a][c] += k[a] * v[c];
                for (std::size_t c = 0; c < v.size(); ++c) {
                    Counted sum;
                    for (std::size_t a = 0; a < state.size(); ++a) sum += q[a] * state[a][c];
                    ran.context(b, h, i, static_cast<Index>(c)) =
                        static_cast<float>((sum * root(n[d_k])).value);
                }
            }
            for (const Row& row : state) ran.held += std::ssize(row);
        }
    }
    return ran;
}

}  // namespace

TEST_CASE("the counts of softmax, gated and differential attention are those of their loops") {
    const CostSizes n = sizes_of(5, 7);
    const Inputs in = inputs_of(n);
    const auto keys = [&](Index b, Index h) { return rows_of(in.k, b, h / heads_of_group(n)); };
    const auto values = [&](Index b, Index h) { return rows_of(in.v, b, h / heads_of_group(n)); };
    const auto attended = [&](Index b, Index h, Index i) {
        return mixed(weights_of(keys(b, h), row_of(in.q, b, h, i), root(n[d_k])), values(b, h));
    };
    flops = 0;
    Ran ran = every_row(n, n[d_v], attended);
    ran.flop = flops, ran.held = cached(in);
    check_near(ran.context, attend(in, AttentionSpec{}).value()[Stage::context]);
    check_counts(CostOperation::softmax, n, ran);

    OperationParams params = fresh(Operation::gated, n, in);
    flops = 0;
    ran = every_row(n, n[d_v], [&](Index b, Index h, Index i) {
        Row row = attended(b, h, i);
        for (std::size_t c = 0; c < row.size(); ++c) {
            const Counted gate = at(params.tensors[0], b, h, i, static_cast<Index>(c));
            row[c] = row[c] * (Counted(1.0) / (Counted(1.0) + exp_of(minus(gate))));
        }
        return row;
    });
    ran.flop = flops, ran.held = cached(in);
    check_near(ran.context, context_of(Operation::gated, in, params));
    check_counts(CostOperation::gated, n, ran);

    params = fresh(Operation::differential, n, in);
    flops = 0;
    ran = every_row(n, n[d_v], [&](Index b, Index h, Index i) {
        const auto half = static_cast<std::size_t>(n[d_k] / 2);
        const Row q = row_of(in.q, b, h, i);
        Row weights[2];
        for (const std::size_t first : {std::size_t{0}, half}) {
            std::vector<Row> of = keys(b, h);
            for (Row& k : of) k = part(k, first, half);
            weights[first / half] = weights_of(of, part(q, first, half), root(n[d_k] / 2));
        }
        for (std::size_t j = 0; j < weights[0].size(); ++j)
            weights[0][j] = weights[0][j] - at(params.tensors[0], 0, h, 0, 0) * weights[1][j];
        Row row = mixed(weights[0], values(b, h));
        Counted squares;
        for (const Counted& each : row) squares += each * each;
        const Counted size =
            root_of(squares / Counted(static_cast<double>(row.size())) + Counted(1e-5));
        for (std::size_t c = 0; c < row.size(); ++c)
            row[c] = at(params.tensors[1], 0, h, 0, static_cast<Index>(c)) * row[c] / size;
        return row;
    });
    ran.flop = flops, ran.held = cached(in);
    check_near(ran.context, context_of(Operation::differential, in, params));
    check_counts(CostOperation::differential, n, ran);
}

TEST_CASE("the counts of latent attention are those of its loops, expanded and absorbed") {
    const CostSizes n = sizes_of(5, 7);
    LatentHeads in;
    in.q_nope = normal_tensor<float>({n[batch], n[heads], n[tq], n[d_k]}, 1);
    in.q_rope = normal_tensor<float>({n[batch], n[heads], n[tq], n[rope_columns]}, 2);
    in.c_kv = normal_tensor<float>({n[batch], 1, n[tk], n[latent]}, 3);
    in.k_rope = normal_tensor<float>({n[batch], 1, n[tk], n[rope_columns]}, 4);
    in.w_uk = normal_tensor<float>({1, n[heads], n[latent], n[d_k]}, 5);
    in.w_uv = normal_tensor<float>({1, n[heads], n[latent], n[d_v]}, 6);
    const auto joined = [](Row first, const Row& second) {
        first.insert(first.end(), second.begin(), second.end());
        return first;
    };
    const auto times = [](const Row& x, const Tensor& w, Index h, bool transposed) {
        Row made(static_cast<std::size_t>(transposed ? w.shape().t : w.shape().d));
        for (std::size_t c = 0; c < made.size(); ++c)
            for (std::size_t a = 0; a < x.size(); ++a) {
                const auto r = static_cast<Index>(transposed ? c : a),
                           k = static_cast<Index>(transposed ? a : c);
                made[c] += x[a] * at(w, 0, h, r, k);
            }
        return made;
    };
    const double scale = root(n[d_k] + n[rope_columns]);
    AttentionSpec spec;
    spec.scale = ScaleKind::value;
    spec.scale_value = scale;
    const Inputs call = latent_call(in, LatentForm::expanded).value();
    const Tensor right = attend(call, spec).value()[Stage::context];

    flops = 0;
    std::map<std::pair<Index, Index>, std::pair<std::vector<Row>, std::vector<Row>>> made;
    for (Index b = 0; b < n[batch]; ++b)
        for (Index h = 0; h < n[heads]; ++h)
            for (Index j = 0; j < n[tk]; ++j) {
                const Row c = row_of(in.c_kv, b, 0, j);
                auto& [keys, values] = made[{b, h}];
                keys.push_back(joined(row_of(in.k_rope, b, 0, j), times(c, in.w_uk, h, false)));
                values.push_back(times(c, in.w_uv, h, false));
            }
    Ran ran = every_row(n, n[d_v], [&](Index b, Index h, Index i) {
        const auto& [keys, values] = made[{b, h}];
        return mixed(
            weights_of(keys, joined(row_of(in.q_rope, b, h, i), row_of(in.q_nope, b, h, i)), scale),
            values);
    });
    ran.flop = flops;
    for (const auto& [place, rows] : made)
        for (const auto* const of : {&rows.first, &rows.second})
            for (const Row& row : *of) ran.held += std::ssize(row);
    check_near(ran.context, right);
    check_counts(CostOperation::mla_expanded, n, ran);
    CHECK(ran.held == n[batch] * n[tk] * cached_numbers(in, LatentForm::expanded));

    flops = 0;
    ran = every_row(n, n[d_v], [&](Index b, Index h, Index i) {
        std::vector<Row> keys, values = rows_of(in.c_kv, b, 0);
        for (Index j = 0; j < n[tk]; ++j)
            keys.push_back(joined(row_of(in.k_rope, b, 0, j), row_of(in.c_kv, b, 0, j)));
        const Row q =
            joined(row_of(in.q_rope, b, h, i), times(row_of(in.q_nope, b, h, i), in.w_uk, h, true));
        return times(mixed(weights_of(keys, q, scale), values), in.w_uv, h, false);
    });
    ran.flop = flops, ran.held = in.c_kv.count() + in.k_rope.count();
    check_near(ran.context, right);
    check_counts(CostOperation::mla_absorbed, n, ran);
    CHECK(ran.held == n[batch] * n[tk] * cached_numbers(in, LatentForm::absorbed));
}

TEST_CASE("the counts of recurrences are those of their loops") {
    const CostSizes n = sizes_of(5, 5);
    const Inputs in = inputs_of(n);
    const struct {
        CostOperation row;
        Operation operation;
        Recurrence rule;
    } kRules[] = {{CostOperation::retention, Operation::retention, {false, false, false}},
                  {CostOperation::gated_linear, Operation::gated_linear, {true, false, true}},
                  {CostOperation::gated_delta, Operation::gated_delta, {false, true, true}},
                  {CostOperation::kda, Operation::kda, {true, true, true}}};
    for (const auto& [row, operation, rule] : kRules) {
        CAPTURE(info(operation).key);
        const OperationParams params = fresh(operation, n, in);
        flops = 0;
        Ran ran = recurrent(n, in, params, rule);
        ran.flop = flops;
        check_near(ran.context, context_of(operation, in, params));
        check_counts(row, n, ran);
    }
}

TEST_CASE("the counts of linear attention are those of its loops") {
    const CostSizes n = sizes_of(5, 5);
    const Inputs in = inputs_of(n);
    const auto feature = [](const Row& x) {
        Row made;
        for (const Counted& each : x)
            made.push_back(Counted(0.0) < each ? each + Counted(1.0) : exp_of(each));
        return made;
    };
    flops = 0;
    Ran ran{Tensor({n[batch], n[heads], n[tq], n[d_v]})};
    for (Index b = 0; b < n[batch]; ++b)
        for (Index g = 0; g < n[kv_heads]; ++g) {
            std::vector<Row> s(static_cast<std::size_t>(n[d_k]),
                               Row(static_cast<std::size_t>(n[d_v])));
            Row z(static_cast<std::size_t>(n[d_k]));
            for (Index j = 0; j < n[tk]; ++j) {
                const Row k = feature(row_of(in.k, b, g, j)), v = row_of(in.v, b, g, j);
                for (std::size_t a = 0; a < z.size(); ++a) {
                    z[a] += k[a];
                    for (std::size_t c = 0; c < v.size(); ++c) s[a][c] += k[a] * v[c];
                }
            }
            ran.held += std::ssize(z) * (1 + n[d_v]);
            for (Index h = g * heads_of_group(n); h < (g + 1) * heads_of_group(n); ++h)
                for (Index i = 0; i < n[tq]; ++i) {
                    const Row q = feature(row_of(in.q, b, h, i));
                    const Counted below = dot(q, z);
                    for (std::size_t c = 0; c < s.front().size(); ++c) {
                        Counted sum;
                        for (std::size_t a = 0; a < z.size(); ++a) sum += q[a] * s[a][c];
                        ran.context(b, h, i, static_cast<Index>(c)) =
                            static_cast<float>((sum / below).value);
                    }
                }
        }
    ran.flop = flops;
    check_near(ran.context, context_of(Operation::linear, in, {}));
    check_counts(CostOperation::linear, n, ran);
}

TEST_CASE("the counts of a state-space layer are those of its loops") {
    const CostSizes n = sizes_of(5, 5);
    const Inputs in = inputs_of(n);
    OperationSpec spec;
    spec.state = n[states];
    spec.discretise = Discretise::euler;
    const OperationParams params = fresh(Operation::state_space, n, in);
    const Tensor &a_log = params.tensors[0], &w_b = params.tensors[1], &w_c = params.tensors[2],
                 &w_delta = params.tensors[3], &b_delta = params.tensors[4],
                 &skip = params.tensors[5];
    flops = 0;
    Ran ran{Tensor({n[batch], n[heads], n[tq], n[d_v]})};
    for (Index b = 0; b < n[batch]; ++b)
        for (Index h = 0; h < n[heads]; ++h) {
            std::vector<Row> state(static_cast<std::size_t>(n[d_v]),
                                   Row(static_cast<std::size_t>(n[states])));
            for (Index i = 0; i < n[tq]; ++i) {
                const Row u = row_of(in.v, b, h / heads_of_group(n), i);
                Row write(static_cast<std::size_t>(n[states])), read = write;
                for (Index m = 0; m < n[states]; ++m)
                    for (Index c = 0; c < n[d_v]; ++c) {
                        const auto at_c = static_cast<std::size_t>(c),
                                   at_m = static_cast<std::size_t>(m);
                        write[at_m] += u[at_c] * at(w_b, 0, h, c, m);
                        read[at_m] += u[at_c] * at(w_c, 0, h, c, m);
                    }
                for (Index c = 0; c < n[d_v]; ++c) {
                    const auto at_c = static_cast<std::size_t>(c);
                    Counted before = at(b_delta, 0, h, 0, c);
                    for (Index k = 0; k < n[d_v]; ++k)
                        before += u[static_cast<std::size_t>(k)] * at(w_delta, 0, h, k, c);
                    const Counted delta = log_of(Counted(1.0) + exp_of(before));
                    Counted sum = at(skip, 0, h, 0, c) * u[at_c];
                    for (std::size_t m = 0; m < write.size(); ++m) {
                        const Counted a = -std::exp(static_cast<double>(
                            a_log(0, h, c, static_cast<Index>(m))));  // a parameter, once
                        Counted& x = state[at_c][m];
                        x = exp_of(delta * a) * x + delta * write[m] * u[at_c];
                        sum += read[m] * x;
                    }
                    ran.context(b, h, i, c) = static_cast<float>(sum.value);
                }
            }
            for (const Row& row : state) ran.held += std::ssize(row);
        }
    ran.flop = flops;
    check_near(ran.context, context_of(Operation::state_space, in, params, spec));
    check_counts(CostOperation::state_space, n, ran);
}
