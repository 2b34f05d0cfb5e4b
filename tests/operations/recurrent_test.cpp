// Recurrences on a matrix state against products of whole matrices, and small ones by hand.

#include <doctest/doctest.h>

#include <cmath>

#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Operation kRecurrences[] = {Operation::retention, Operation::gated_linear,
                                      Operation::gated_delta, Operation::kda};

bool is_delta(const OperationCase& one) {
    return one.operation.operation == Operation::gated_delta ||
           one.operation.operation == Operation::kda;
}
bool is_read(const OperationCase& one, Index b, Index j) {
    const MaskSpec& mask = one.spec.mask;
    if (!mask.padding.empty() && j >= mask.padding[b]) return false;
    return !mask.custom || (*mask.custom)(mask.custom->shape().b == 1 ? 0 : b, 0, 0, j) != 0;
}
/// An entry of a gate: one number a head, a token or a channel.
double gate(const TensorD& tensor, Index b, Index h, Index i, Index a) {
    const Shape n = tensor.shape();
    return tensor(std::min(b, n.b - 1), h, std::min(i, n.t - 1), std::min(a, n.d - 1));
}

using Square = std::vector<std::vector<double>>;
Square product(const Square& a, const Square& b) {
    Square made(a.size(), std::vector<double>(b.front().size()));
    for (std::size_t i = 0; i < a.size(); ++i)
        for (std::size_t j = 0; j < b.front().size(); ++j)
            for (std::size_t n = 0; n < b.size(); ++n) made[i][j] += a[i][n] * b[n][j];
    return made;
}

/// implied[i,j] = factor · qᵀ P_i … P_{j+1} k β, every P = (I − β k kᵀ) diag(α) a whole matrix.
double implied(const OperationCase& one, const OperationTraceD& f, Index b, Index h, Index i,
               Index j) {
    if (!is_read(one, b, j) || j > i) return 0.0;
    const bool delta = is_delta(one);
    const TensorD &q = f[delta ? "q_unit" : "q"], &k = f[delta ? "k_unit" : "k"];
    const Index g = h / 2, width = k.shape().d;
    const auto beta = [&](Index t) {
        return delta ? gate(one.params.tensors[1], b, h, t, 0) : 1.0;
    };
    Square column(static_cast<std::size_t>(width), {0.0});
    for (Index a = 0; a < width; ++a) column[a][0] = k(b, g, j, a) * beta(j);
    for (Index t = j + 1; t <= i; ++t) {
        if (!is_read(one, b, t)) continue;
        Square step(static_cast<std::size_t>(width), std::vector<double>(width));
        for (Index r = 0; r < width; ++r)
            for (Index c = 0; c < width; ++c) {
                const double outer = delta ? beta(t) * k(b, g, t, r) * k(b, g, t, c) : 0.0;
                step[r][c] = ((r == c ? 1.0 : 0.0) - outer) *
                             std::exp(gate(one.params.tensors[0], b, h, t, c));
            }
        column = product(step, column);
    }
    double sum = 0.0;
    for (Index a = 0; a < width; ++a) sum += q(b, h, i, a) * column[a][0];
    const double scale = one.spec.scale == ScaleKind::none ? 1.0 : 1.0 / std::sqrt(3.0);
    return sum * scale / one.spec.temperature;
}

/// One head of width 1 under two tokens with keys k and values v, all gates as given.
OperationCase by_hand(Operation operation, double decay, double beta) {
    OperationCase one;
    one.operation.operation = operation;
    one.spec.scale = ScaleKind::none;
    one.inputs.q = rows({{1.0}, {1.0}});
    one.inputs.k = rows({{2.0}, {2.0}});
    one.inputs.v = rows({{3.0}, {5.0}});
    const double log = std::log(decay);
    one.params.tensors = {operation == Operation::retention ? rows({{log}}) : rows({{log}, {log}})};
    if (is_delta(one)) one.params.tensors.push_back(rows({{beta}, {beta}}));
    return one;
}

}  // namespace

TEST_CASE("adding: S = 6, then 6 · 0.5 + 10") {
    for (const Operation operation : {Operation::retention, Operation::gated_linear}) {
        const OperationTraceD f = by_hand(operation, 0.5, 0.0).forward();
        CHECK(difference(f["states"], rows({{6.0}, {13.0}}), "S") == "");
        CHECK(difference(f["implied"], rows({{2.0, 0.0}, {1.0, 2.0}}), "implied") == "");
        CHECK(difference(f["context"], rows({{6.0}, {13.0}}), "context") == "");
    }
}

TEST_CASE("the delta rule replaces the value of a key: with β = 1 the last one stays alone") {
    for (const Operation operation : {Operation::gated_delta, Operation::kda}) {
        const OperationTraceD whole = by_hand(operation, 1.0, 1.0).forward();
        CHECK(difference(whole["context"], rows({{3.0}, {5.0}}), "context", 1e-6) == "");
        CHECK(difference(whole["read"], rows({{0.0}, {3.0}}), "r", 1e-6) == "");
        CHECK(difference(whole["written"], rows({{3.0}, {2.0}}), "u", 1e-6) == "");
        CHECK(std::abs(whole["implied"](0, 0, 1, 0)) < 1e-6);
        // Half: S = 1.5, faded to 0.75, then 0.75 + (5 − 0.75) / 2.
        const OperationTraceD half = by_hand(operation, 0.5, 0.5).forward();
        CHECK(difference(half["context"], rows({{1.5}, {2.875}}), "context", 1e-6) == "");
    }
}

TEST_CASE("every implied weight is the product of whole matrices, and context is implied times V") {
    int compared = 0;
    for (const OperationCase& one : operation_cases()) {
        if (std::ranges::count(kRecurrences, one.operation.operation) == 0) continue;
        const OperationTraceD f = one.forward();
        const TensorD &weights = f["implied"], &v = f["v"];
        const Shape n = weights.shape();
        for (Index b = 0; b < n.b; ++b)
            for (Index h = 0; h < n.h; ++h)
                for (Index i = 0; i < n.t; ++i)
                    for (Index c = 0; c < v.shape().d; ++c) {
                        double sum = 0.0;
                        for (Index j = 0; j < n.d; ++j) {
                            const double expected = one.inputs.projects()
                                                        ? weights(b, h, i, j)
                                                        : implied(one, f, b, h, i, j);
                            CHECK(weights(b, h, i, j) == doctest::Approx(expected).epsilon(1e-12));
                            sum += expected * v(b, h / 2, j, c);
                        }
                        CHECK(f["context"](b, h, i, c) == doctest::Approx(sum).epsilon(1e-12));
                        ++compared;
                    }
    }
    CHECK(compared > 1000);
}

TEST_CASE("a factor for each row that is the same in all is one factor") {
    OperationCase per_token = sample(Operation::gated_delta, 5, 5);
    OperationCase per_row = sample(Operation::kda, 5, 5);
    per_row.params.tensors[1] = per_token.params.tensors[1];
    TensorD& all = per_row.params.tensors[0];
    for (Index b = 0; b < 2; ++b)
        for (Index h = 0; h < 4; ++h)
            for (Index i = 0; i < 5; ++i)
                for (const Index a : {0, 1, 2})
                    all(b, h, i, a) = per_token.params.tensors[0](b, h, i, 0);
    CHECK(difference(per_row.forward()["context"], per_token.forward()["context"], "context") ==
          "");
}

TEST_CASE(
    "rows before the first token that may be read follow the call, and later tokens are not read") {
    for (const Operation operation : kRecurrences) {
        OperationCase one = sample(operation, 5, 5);
        const OperationTraceD before = one.forward();
        one.inputs.v(1, 1, 3, 0) += 1.0;
        one.inputs.k(1, 1, 4, 0) += 1.0;
        const OperationTraceD after = one.forward();
        for (Index i = 0; i < 5; ++i)
            CHECK((before["context"](1, 2, i, 0) == after["context"](1, 2, i, 0)) == (i < 3));
        Mask mask(Shape{1, 1, 1, 5}, 1);
        mask(0, 0, 0, 0) = 0;
        one.spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
        one.inputs.k(0, 0, 0, 0) = std::nan("");
        CHECK(one.forward()["context"](0, 0, 0, 0) == 0.0);
        CHECK(std::isfinite(one.backward()["k"](0, 0, 0, 0)));
        CHECK(std::isfinite(one.forward()["context"](0, 0, 4, 0)));
        one.spec.empty_rows = EmptyRows::nan;
        CHECK(std::isnan(one.forward()["context"](0, 0, 0, 0)));
        CHECK(std::isfinite(one.forward()["context"](0, 0, 1, 0)));
    }
}
