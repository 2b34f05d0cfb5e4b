// Linear attention by its running sums against its explicit matrix.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "core/entries.h"
#include "core/masks.h"
#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;

namespace {

double phi(double x) { return x > 0.0 ? x + 1.0 : std::exp(x); }

/// φ(q_i) · φ(k_j), straight from the inputs.
double similarity(const TensorD& q, const TensorD& k, Index b, Index h, Index i, Index j) {
    double sum = 0.0;
    for (Index a = 0; a < q.shape().d; ++a)
        sum += phi(q(b, h, i, a)) * phi(k(b, h / (q.shape().h / k.shape().h), j, a));
    return sum;
}

/// The O(n²) form: every similarity, masked, divided by its row's sum; 0 where a row has none.
TensorD explicit_weights(const OperationCase& one, const OperationTraceD& trace) {
    const TensorD& q = trace["q"];
    const TensorD& k = trace["k"];
    const Dimensions size = validate(one.inputs, one.spec).value().size();
    TensorD weights(Shape{q.shape().b, q.shape().h, q.shape().t, k.shape().t});
    for_each_row(q.shape(), [&](Index b, Index h, Index i) {
        double sum = 0.0;
        for (Index j = 0; j < k.shape().t; ++j)
            if (may_attend(one.spec.mask, size, b, h, i, j))
                sum += weights(b, h, i, j) = similarity(q, k, b, h, i, j);
        for (double& weight : weights.matrix(b, h).row(i))
            if (sum > 0.0) weight /= sum;
    });
    return weights;
}

TensorD times_values(const TensorD& weights, const TensorD& v) {
    const Shape n = weights.shape();
    TensorD made(Shape{n.b, n.h, n.t, v.shape().d});
    for_each_entry(made.shape(), [&](Index b, Index h, Index i, Index c) {
        for (Index j = 0; j < n.d; ++j)
            made(b, h, i, c) += weights(b, h, i, j) * v(b, h / (n.h / v.shape().h), j, c);
    });
    return made;
}

}  // namespace

TEST_CASE("one query, three keys: state, normaliser and weights by hand") {
    OperationCase one;
    one.operation.operation = Operation::linear;
    one.inputs.q = rows({{0.0}});
    one.inputs.k = rows({{1.0}, {0.0}, {-std::log(2.0)}});
    one.inputs.v = rows({{1.0}, {2.0}, {4.0}});
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["phi_k"], rows({{2.0}, {1.0}, {0.5}}), "phi") == "");
    CHECK(difference(trace["state"], rows({{6.0}}), "S") == "");
    CHECK(difference(trace["normaliser"], rows({{3.5}}), "z") == "");
    CHECK(difference(trace["denominator"], rows({{3.5}}), "D") == "");
    CHECK(difference(trace["implied"], rows({{2.0 / 3.5, 1.0 / 3.5, 0.5 / 3.5}}), "A") == "");
    CHECK(difference(trace["context"], rows({{6.0 / 3.5}}), "context") == "");
}

TEST_CASE("causal: the state grows by one outer product a key") {
    OperationCase one;
    one.operation.operation = Operation::linear;
    one.spec.mask.causal = CausalAlign::top_left;
    one.inputs.q = rows({{0.0, 0.0}, {1.0, 0.0}});
    one.inputs.k = rows({{0.0, 1.0}, {1.0, 0.0}});
    one.inputs.v = rows({{1.0, 10.0}, {2.0, 20.0}});
    const OperationTraceD trace = one.forward();
    // φ(k) = [1, 2], [2, 1]; S_0 = [1 10; 2 20], S_1 = S_0 + [4 40; 2 20].
    CHECK(difference(trace["states"], rows({{1.0, 10.0, 2.0, 20.0}, {5.0, 50.0, 4.0, 40.0}}),
                     "S") == "");
    CHECK(difference(trace["normalisers"], rows({{1.0, 2.0}, {3.0, 3.0}}), "z") == "");
    CHECK(difference(trace["state"], rows({{5.0, 50.0}, {4.0, 40.0}}), "S") == "");
    // φ(q) = [1, 1], [2, 1]: row 0 sees key 0 alone; row 1 has 14/9 and 140/9.
    CHECK(difference(trace["context"], rows({{1.0, 10.0}, {14.0 / 9.0, 140.0 / 9.0}}), "context") ==
          "");
    CHECK(difference(trace["implied"], rows({{1.0, 0.0}, {4.0 / 9.0, 5.0 / 9.0}}), "A") == "");
}

TEST_CASE("running sums give what the explicit n by n form gives, and rows sum to 1") {
    for (const OperationCase& one : operation_cases()) {
        if (one.operation.operation != Operation::linear) continue;
        const OperationTraceD trace = one.forward();
        const TensorD weights = explicit_weights(one, trace);
        CHECK(difference(trace["implied"], weights, one.name) == "");
        CHECK(difference(trace["context"], times_values(weights, trace["v"]), one.name) == "");
    }
    const OperationTraceD plain = sample(Operation::linear, 3, 5).forward();
    for (Index i = 0; i < 3; ++i) {
        double sum = 0.0;
        for (const double weight : plain["implied"].matrix(1, 2).row(i)) sum += weight;
        CHECK(sum == doctest::Approx(1.0));
    }
}

TEST_CASE("entries near -800, whose features are 0 in float64, weigh as they would 800 higher") {
    for (const bool causal : {false, true})
        for (const auto& [q_lower, k_lower] :
             {std::pair{800.0, 0.0}, {0.0, 800.0}, {900.0, 900.0}}) {
            INFO("causal ", causal, ", q_lower ", q_lower, ", k_lower ", k_lower);
            OperationCase one = sample(Operation::linear, 5, 5);
            if (causal) one.spec.mask.causal = CausalAlign::top_left;
            for (double& q : one.inputs.q.values()) q = -1.0 - std::abs(q);
            for (double& k : one.inputs.k.values()) k = -1.0 - std::abs(k);
            const OperationTraceD near = one.forward(), d_near = one.backward();
            for (double& q : one.inputs.q.values()) q -= q_lower;
            for (double& k : one.inputs.k.values()) k -= k_lower;
            const OperationTraceD far = one.forward(), d_far = one.backward();
            CHECK((far["phi_q"](0, 0, 0, 0) == 0.0) == (q_lower > 0.0));
            CHECK((far["state"](0, 0, 0, 0) == 0.0) == (k_lower > 0.0));
            for (const std::string_view key : {"context", "implied"})
                CHECK(difference(far[key], near[key], key) == "");
            for (const std::string_view key : {"q", "k", "v"})
                CHECK(difference(d_far[key], d_near[key], key) == "");
        }
}

TEST_CASE("causal: the first key near -800 is all that the first query reads, and no later one") {
    OperationCase one;
    one.operation.operation = Operation::linear;
    one.spec.mask.causal = CausalAlign::top_left;
    one.inputs.q = rows({{0.0, -900.0}, {0.0, 0.0}, {0.0, -900.0}});
    one.inputs.k = rows({{-800.0, -800.0}, {0.0, -820.0}, {-800.0, 1.0}});
    one.inputs.v = rows({{1.0}, {2.0}, {4.0}});
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["context"], rows({{1.0}, {2.0}, {2.0}}), "context") == "");
    CHECK(difference(trace["normalisers"], rows({{0.0, 0.0}, {1.0, 0.0}, {1.0, 2.0}}), "z") == "");
    const OperationTraceD d = one.backward();
    for (const std::string_view key : {"q", "k", "v"})
        for (const double value : d[key].values()) CHECK(std::isfinite(value));
}

TEST_CASE("a NaN of a masked key stays behind the mask; a row without keys follows the policy") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    OperationCase one = sample(Operation::linear, 3, 5);
    one.spec.mask.padding = {4, 0};
    const OperationTraceD clean = one.forward();
    for (Index c = 0; c < 2; ++c) one.inputs.v(0, 1, 4, c) = nan;
    one.inputs.k(0, 1, 4, 0) = nan;
    const OperationTraceD dirty = one.forward();
    CHECK(difference(dirty["context"], clean["context"], "context") == "");
    CHECK(clean["context"](0, 3, 0, 0) != 0.0);
    CHECK(clean["context"](1, 0, 0, 0) == 0.0);
    const OperationTraceD d = one.backward();
    CHECK(d["v"](0, 1, 4, 0) == 0.0);
    CHECK(std::isfinite(d["v"](0, 1, 3, 0)));
    one.spec.empty_rows = EmptyRows::nan;
    CHECK(std::isnan(one.forward()["context"](1, 0, 0, 0)));
    CHECK(std::isnan(one.forward()["implied"](1, 0, 0, 0)));
}
