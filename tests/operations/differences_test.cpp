// Gradients of every operation against central differences of its own forward pass, for every input and parameter, and
// against nudged stages where a stage can be nudged.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/stages.h"
#include "tests/operations/sample.h"
#include "tests/support/differences.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Of the gradient of `tensor`, a part of `one`.
std::string check(OperationCase& one, TensorD& tensor, const TensorD& gradient,
                  std::string_view key) {
    const auto loss = [&] {
        return loss_of(one.forward()[info(one.upstream.stage).key], one.upstream.gradient);
    };
    return gradient_mismatch(tensor, gradient, loss, fmt::format("d_{} of {}", key, one.name));
}

void check_inputs(OperationCase& one, const OperationTraceD& d) {
    InputsD& in = one.inputs;
    if (in.projects()) {
        CHECK(check(one, in.x, d["x"], "x") == "");
        if (!in.x_kv.empty()) CHECK(check(one, in.x_kv, d["x_kv"], "x_kv") == "");
        for (const ParamInfo& param : param_table())
            CHECK(check(one, in.params[param.param], d.call_params[param.param], param.key) == "");
        return;
    }
    CHECK(check(one, in.v, d["v"], "v") == "");
    if (one.operation.operation == Operation::state_space) return;
    CHECK(check(one, in.q, d["q"], "q") == "");
    CHECK(check(one, in.k, d["k"], "k") == "");
}

}  // namespace

TEST_CASE("the gradient of every input and parameter of every operation is its finite difference") {
    for (OperationCase one : operation_cases()) {
        const OperationTraceD d = one.backward();
        check_inputs(one, d);
        const auto params = info(one.operation.operation).params;
        REQUIRE(d.params.tensors.size() == params.size());
        for (std::size_t p = 0; p < params.size(); ++p)
            CHECK(check(one, one.params.tensors[p], d.params.tensors[p], params[p].key) == "");
    }
}

TEST_CASE("every stage with a gradient has one of its shape, and it is not all zeros") {
    for (const OperationCase& one : operation_cases()) {
        if (!one.spec.mask.padding.empty()) continue;
        const OperationTraceD forward = one.forward();
        const OperationTraceD d = one.backward();
        for (const OperationStage& stage : info(one.operation.operation).stages) {
            INFO(one.name, " ", stage.key);
            if (!stage.gradient || (stage.key == "output" && one.upstream.stage != Stage::output)) {
                CHECK(d[stage.key].empty());
                continue;
            }
            CHECK(d[stage.key].shape() == forward[stage.key].shape());
            double largest = 0.0;
            for (const double value : d[stage.key].values())
                largest = std::max(largest, std::abs(value));
            // Top-left leaves the last keys to no query.
            const bool unread = one.spec.mask.causal == CausalAlign::top_left &&
                                (stage.key == "state" || stage.key == "normaliser");
            CHECK((forward[stage.key].empty() || unread || largest > 1e-6));
        }
    }
}

TEST_CASE("the gradient of the implied matrix is what a nudged weight does to implied V") {
    for (const OperationCase& one : operation_cases()) {
        const OperationTraceD d = one.backward();
        const bool normed = one.operation.operation == Operation::differential;
        const TensorD &product = d[normed ? "mixed" : "context"], v = one.forward()["v"];
        const Shape n = d["implied"].shape();
        for (Index i = 0; i < n.t; ++i)
            for (Index j = 0; j < n.d; ++j) {
                double dot = 0.0;
                for (Index c = 0; c < v.shape().d; ++c) dot += product(1, 3, i, c) * v(1, 1, j, c);
                CHECK(d["implied"](1, 3, i, j) == doctest::Approx(dot));
            }
    }
}
