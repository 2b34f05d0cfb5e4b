// A selective state space against a recurrence written anew, and its matrices against its output.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "core/cast.h"
#include "core/entries.h"
#include "tests/operations/sample.h"

using namespace attn;
using namespace attn::test;

namespace {

bool is_open(const OperationCase& one, Index b, Index j) {
    const MaskSpec& mask = one.spec.mask;
    if (!mask.padding.empty() && j >= mask.padding[b]) return false;
    return !mask.custom || (*mask.custom)(mask.custom->shape().b == 1 ? 0 : b, 0, 0, j) != 0;
}

/// context[b,h,·,c] by the recurrence, one state at a time; Δ, B and C as the paper has them.
std::vector<double> column(const OperationCase& one, const TensorD& v, Index b, Index h, Index c) {
    const std::vector<TensorD>& p = one.params.tensors;
    const TensorD &a_log = p[0], &w_b = p[1], &w_c = p[2], &w_delta = p[3], &b_delta = p[4];
    const Index g = h / 2, width = v.shape().d, states = a_log.shape().d;
    std::vector<double> y(v.shape().t);
    for (Index n = 0; n < states; ++n) {
        double state = 0.0;
        for (Index t = 0; t < v.shape().t; ++t) {
            double before = b_delta(0, h, 0, c), b_t = 0.0, c_t = 0.0;
            for (Index k = 0; k < width; ++k) {
                before += v(b, g, t, k) * w_delta(0, h, k, c);
                b_t += v(b, g, t, k) * w_b(0, h, k, n);
                c_t += v(b, g, t, k) * w_c(0, h, k, n);
            }
            const double step = is_open(one, b, t) ? std::log(1.0 + std::exp(before)) : 0.0;
            const double a = -std::exp(a_log(0, h, c, n));
            const double input = one.operation.discretise == Discretise::zoh
                                     ? (std::exp(step * a) - 1.0) / a * b_t
                                     : step * b_t;
            state = std::exp(step * a) * state + input * v(b, g, t, c);
            y[t] += c_t * state;
        }
    }
    for (Index t = 0; t < v.shape().t; ++t)
        if (is_open(one, b, t)) y[t] += p[5](0, h, 0, c) * v(b, g, t, c);
    return y;
}

TensorD recurrence(const OperationCase& one, const TensorD& v, const Shape& shape) {
    TensorD context(shape);
    for_each_entry({shape.b, shape.h, 1, shape.d}, [&](Index b, Index h, Index, Index c) {
        const std::vector<double> y = column(one, v, b, h, c);
        for (Index t = 0; t < shape.t; ++t) context(b, h, t, c) = y[t];
    });
    return context;
}

OperationCase by_hand() {
    OperationCase one;
    one.operation.operation = Operation::state_space;
    one.operation.state = 1;
    one.inputs.q = one.inputs.k = one.inputs.v = rows({{1.0}, {2.0}});
    // softplus(0) = ln 2 and A = −1: half of the state stays.
    one.params.tensors = {rows({{0.0}}), rows({{1.0}}), rows({{1.0}}),
                          rows({{0.0}}), rows({{0.0}}), rows({{1.0}})};
    return one;
}

}  // namespace

TEST_CASE("one column, one state, two tokens: every number by hand, both rules") {
    OperationCase one = by_hand();
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["delta"], rows({{std::log(2.0)}, {std::log(2.0)}}), "delta") == "");
    CHECK(difference(trace["a_bar"], rows({{0.5}, {0.5}}), "A'") == "");
    CHECK(difference(trace["b_bar"], rows({{0.5}, {1.0}}), "B'") == "");
    CHECK(difference(trace["states"], rows({{0.5}, {2.25}}), "h") == "");
    CHECK(difference(trace["implied"], rows({{0.5, 0.0}, {0.5, 2.0}}), "M") == "");
    CHECK(difference(trace["context"], rows({{1.5}, {6.5}}), "context") == "");
    one.operation.discretise = Discretise::euler;
    const double half = std::log(2.0);
    CHECK(difference(one.forward()["states"], rows({{half}, {0.5 * half + 4.0 * half}}), "h") ==
          "");
}

TEST_CASE("the gradient of A_log keeps its digits where a step is tiny") {
    OperationCase one = by_hand();
    one.inputs.q = one.inputs.k = one.inputs.v = rows({{1.0}});
    for (const double before : {-30.0, -12.0, -0.5, 0.2, 3.0}) {  // ΔA: −9e−14 … −3
        one.params.tensors[4] = rows({{before}});
        const long double x = -std::log1p(std::exp(static_cast<long double>(before)));
        // context = (e^x − 1)/A + 1 with x = ΔA, A = −e^A_log = −1: d_A_log = (1 + x + … − …) by its series
        long double expected = 0.0L, term = 0.5L * x * x;
        for (int n = 0; n < 40; ++n) {
            expected -= static_cast<long double>(n + 1) * term;
            term *= x / static_cast<long double>(n + 3);
        }
        const double got = one.backward().params.tensors[0](0, 0, 0, 0);
        CHECK(got == doctest::Approx(static_cast<double>(expected)).epsilon(1e-13));
    }
}

TEST_CASE("the layer is the recurrence, with masked tokens passed by") {
    for (const OperationCase& one : operation_cases()) {
        if (one.operation.operation != Operation::state_space) continue;
        const OperationTraceD trace = one.forward();
        const TensorD expected = recurrence(one, trace["v"], trace["context"].shape());
        CHECK(difference(trace["context"], expected, one.name) == "");
    }
}

TEST_CASE("each column's matrix times the column, and its own value times D, is the output") {
    const OperationCase one = sample(Operation::state_space, 5, 5);
    const Inputs inputs = cast<float>(one.inputs);
    const Call call = validate(inputs, one.spec).value();
    const OperationTrace trace = run_operation(one.operation, call, one.float_params()).value();
    TensorD sum(trace["implied"].shape());
    for (Index c = 0; c < 2; ++c) {
        const Tensor matrix = implied_of_column(trace, c).value();
        for (Index h = 0; h < 4; ++h)
            for (Index i = 0; i < 5; ++i) {
                const double own = static_cast<double>(trace["v"](1, h / 2, i, c));
                double y = own * one.params.tensors[5](0, h, 0, c);
                for (Index j = 0; j < 5; ++j)
                    y += static_cast<double>(matrix(1, h, i, j)) *
                         static_cast<double>(trace["v"](1, h / 2, j, c));
                CHECK(static_cast<double>(trace["context"](1, h, i, c)) ==
                      doctest::Approx(y).epsilon(1e-5));
                for (Index j = i + 1; j < 5; ++j) CHECK(matrix(1, h, i, j) == 0.0F);
            }
        for (std::size_t n = 0; n < sum.values().size(); ++n)
            sum.values()[n] += 0.5 * static_cast<double>(matrix.values()[n]);
    }
    CHECK(difference(cast<double>(trace["implied"]), sum, "mean of the columns", 1e-6) == "");
    CHECK(implied_of_column(trace, 2).error().text() == "column is 2: it must be 0 to 1");
}

TEST_CASE("tokens do not depend on later ones") {
    OperationCase one = sample(Operation::state_space, 5, 5);
    const OperationTraceD before = one.forward();
    one.inputs.v(1, 1, 3, 0) += 1.0;
    const OperationTraceD after = one.forward();
    for (Index i = 0; i < 5; ++i)
        CHECK((before["context"](1, 2, i, 1) == after["context"](1, 2, i, 1)) == (i < 3));
}

TEST_CASE("the layer never looks at queries and keys") {
    const OperationCase one = projected_sample(Operation::state_space, false);
    const OperationTraceD d = one.backward();
    CHECK(d.call_params[Param::w_q] == TensorD(one.inputs.params[Param::w_q].shape()));
    CHECK(d.call_params[Param::b_k] == TensorD(one.inputs.params[Param::b_k].shape()));
    CHECK(d.call_params[Param::w_v] != TensorD(one.inputs.params[Param::w_v].shape()));
}

TEST_CASE("where A is 0 the exact rule is Euler's, forward and back") {
    OperationCase one = by_hand();
    for (const double a_log : {-40.0, -745.0, -746.0, -HUGE_VAL}) {
        CAPTURE(a_log);
        one.params.tensors[0] = rows({{a_log}});
        one.operation.discretise = Discretise::zoh;
        const OperationTraceD exact = one.forward(), d = one.backward();
        one.operation.discretise = Discretise::euler;
        CHECK(difference(exact["context"], one.forward()["context"], "context") == "");
        const OperationTraceD d_euler = one.backward();
        CHECK(difference(d["v"], d_euler["v"], "d_v") == "");
        CHECK(std::abs(d.params.tensors[0](0, 0, 0, 0)) < 1e-15);
        for (std::size_t n = 1; n < d.params.tensors.size(); ++n)
            CHECK(difference(d.params.tensors[n], d_euler.params.tensors[n], "d") == "");
    }
}
