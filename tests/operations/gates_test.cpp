// Operations on top of softmax attention: a gate behind it, and the difference of two.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "tests/io/scratch.h"
#include "tests/operations/sample.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

std::string refused(const OperationCase& one) {
    return sentence_in(
        run_operation_exact(one.operation, validate(one.inputs, one.spec).value(), one.params));
}

TensorD first_half(const TensorD& from) {
    const Shape n = from.shape();
    TensorD half({n.b, n.h, n.t, n.d / 2});
    for (std::size_t at = 0; at < half.values().size(); ++at) {
        const std::size_t width = static_cast<std::size_t>(n.d / 2);
        half.values()[at] = from.values()[at / width * 2 * width + at % width];
    }
    return half;
}

}  // namespace

TEST_CASE(
    "an open gate is softmax attention, a gate of 0 lets half through, a closed one nothing") {
    for (const auto& [logit, factor] : {std::pair{40.0, 1.0}, {0.0, 0.5}, {-800.0, 0.0}}) {
        OperationCase one = sample(Operation::gated, 3, 5);
        one.spec.mask.causal = CausalAlign::bottom_right;
        std::ranges::fill(one.params.tensors[0].values(), logit);
        const OperationTraceD f = one.forward();
        TensorD expected = one.exact()[Stage::context], weights = one.exact()[Stage::weights];
        for (TensorD* each : {&expected, &weights})
            for (double& value : each->values()) value *= factor;
        CHECK(difference(f["context"], expected, "context") == "");
        CHECK(difference(f["implied"], weights, "implied") == "");
    }
}

TEST_CASE("sigmoid attention weighs each pair by its own logit") {
    OperationCase one = sample(Operation::sigmoid, 3, 5);
    one.spec.mask.causal = CausalAlign::bottom_right;
    const TensorD masked = one.exact()[Stage::masked], implied = one.forward()["implied"];
    for (std::size_t n = 0; n < implied.values().size(); ++n)
        CHECK(implied.values()[n] ==
              doctest::Approx(1.0 / (1.0 + 5.0 * std::exp(-masked.values()[n]))));
}

TEST_CASE("a gate of one column lets that column through") {
    OperationCase one = sample(Operation::gated, 3, 5);
    TensorD& gate = one.params.tensors[0];
    for (std::size_t n = 0; n < gate.values().size(); ++n)
        gate.values()[n] = n % 2 == 0 ? 40 : -800;
    const TensorD exact = one.exact()[Stage::context], context = one.forward()["context"];
    for (std::size_t n = 0; n < exact.values().size(); ++n)
        CHECK(context.values()[n] == doctest::Approx(n % 2 == 0 ? exact.values()[n] : 0.0));
}

TEST_CASE("with λ = 0 the first half stays, and its context has the norm's size") {
    OperationCase one = sample(Operation::differential, 3, 5);
    std::ranges::fill(one.params.tensors[0].values(), 0.0);
    OperationCase half = one;
    half.inputs.q = first_half(one.inputs.q);
    half.inputs.k = first_half(one.inputs.k);
    const OperationTraceD f = one.forward();
    CHECK(difference(f["implied"], half.exact()[Stage::weights], "implied") == "");
    CHECK(difference(f["mixed"], half.exact()[Stage::context], "mixed") == "");
    const TensorD &mixed = f["mixed"], &context = f["context"];
    for (std::size_t n = 0; n < mixed.values().size(); n += 2) {
        const double a = mixed.values()[n], b = mixed.values()[n + 1];
        CHECK(context.values()[n] ==
              doctest::Approx(0.8 * a / std::sqrt((a * a + b * b) / 2.0 + 1e-5)));
    }
}

TEST_CASE("rows of A_1 − λ A_2 sum to 1 − λ; equal halves with λ = 1 cancel") {
    OperationCase one = sample(Operation::differential, 3, 5);
    std::ranges::fill(one.params.tensors[0].values(), 0.3);
    const TensorD implied = one.forward()["implied"];
    for (Index i = 0; i < 3; ++i) {
        double sum = 0.0;
        for (const double weight : implied.matrix(1, 2).row(i)) sum += weight;
        CHECK(sum == doctest::Approx(0.7));
    }
    std::ranges::fill(one.params.tensors[0].values(), 1.0);
    for (TensorD* each : {&one.inputs.q, &one.inputs.k})
        for (std::size_t n = 0; n < each->values().size(); n += 4)
            for (const std::size_t c : {0, 1}) each->values()[n + 2 + c] = each->values()[n + c];
    const OperationTraceD f = one.forward();
    for (const double value : f["implied"].values()) CHECK(value == 0.0);
    for (const double value : f["context"].values()) CHECK(value == 0.0);
}

TEST_CASE("what has no meaning for a difference is refused by name") {
    OperationCase one = sample(Operation::differential, 3, 5);
    one.spec.dropout = 0.5;
    CHECK(contains(refused(one), "operation differential does not support dropout"));
    one.spec.dropout = 0.0;
    one.inputs.params[Param::sinks] = TensorD({1, 1, 1, 4});
    CHECK(contains(refused(one), "operation differential does not support sinks"));
    OperationCase odd = sample(Operation::linear, 3, 5);
    odd.operation.operation = Operation::differential;
    odd.params = one.params;
    CHECK(refused(odd) ==
          "operation differential needs an even d_k, not 3: each half makes a softmax of its own");
}
