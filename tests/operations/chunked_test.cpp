// Chunked attention is softmax attention, whatever the chunk and whatever the call.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/call.h"
#include "core/cast.h"
#include "core/entries.h"
#include "core/stages.h"
#include "tests/operations/sample.h"
#include "tests/support/cases.h"

using namespace attn;
using namespace attn::test;

namespace {

/// The same call as `one`, in chunks of `chunk`.
OperationCase chunked(const Case& one, Index chunk) {
    OperationCase made;
    made.name = fmt::format("{}, chunk {}", one.name, chunk);
    made.inputs = cast<double>(one.inputs);
    made.spec = one.spec;
    made.upstream = {one.upstream.stage, cast<double>(one.upstream.gradient)};
    made.operation.chunk = chunk;
    return made;
}

std::vector<Case> every_case() {
    std::vector<Case> cases = engine_cases(Sizes::small);
    for (Case& one : kind_cases(Sizes::small)) cases.push_back(std::move(one));
    return cases;
}

Index keys_of(const Case& one) { return validate(one.inputs, one.spec).value().size().tk; }

}  // namespace

TEST_CASE("one query, three keys, chunks of one: every number by hand") {
    OperationCase one;
    one.inputs.q = rows({{1.0}});
    one.inputs.k = rows({{0.0}, {std::log(2.0)}, {std::log(3.0)}});
    one.inputs.v = rows({{1.0}, {2.0}, {3.0}});
    one.operation.chunk = 1;
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["running_max"], rows({{0.0, std::log(2.0), std::log(3.0)}}), "m") == "");
    CHECK(difference(trace["rescale"], rows({{0.0, 0.5, 2.0 / 3.0}}), "r") == "");
    CHECK(difference(trace["shares"], rows({{1.0, 1.0, 1.0}}), "P") == "");
    CHECK(difference(trace["running_sum"], rows({{1.0, 1.5, 2.0}}), "l") == "");
    CHECK(difference(trace["accumulator"], rows({{1.0, 2.5, 14.0 / 3.0}}), "O") == "");
    CHECK(difference(trace["context"], rows({{7.0 / 3.0}}), "context") == "");
    CHECK(difference(trace["implied"], rows({{1.0 / 6.0, 2.0 / 6.0, 3.0 / 6.0}}), "A") == "");
    CHECK(difference(trace["logsumexp"], rows({{std::log(6.0)}}), "L") == "");
}

TEST_CASE("a falling maximum rescales nothing, and a chunk keeps its own largest logit") {
    OperationCase one;
    one.inputs.q = rows({{1.0}});
    one.inputs.k = rows({{std::log(4.0)}, {0.0}, {std::log(2.0)}});
    one.inputs.v = rows({{1.0}, {1.0}, {8.0}});
    one.operation.chunk = 2;
    const OperationTraceD trace = one.forward();
    CHECK(difference(trace["chunk_max"], rows({{std::log(4.0), std::log(2.0)}}), "mu") == "");
    CHECK(difference(trace["rescale"], rows({{0.0, 1.0}}), "r") == "");
    CHECK(difference(trace["shares"], rows({{1.0, 0.25, 0.5}}), "P") == "");
    CHECK(difference(trace["running_sum"], rows({{1.25, 1.75}}), "l") == "");
    CHECK(difference(trace["accumulator"], rows({{1.25, 5.25}}), "O") == "");
}

TEST_CASE("every chunk size gives softmax attention: all scores, positions, masks, dropout") {
    for (const Case& one : every_case())
        for (const Index chunk : {Index{1}, Index{2}, Index{3}, keys_of(one), Index{1000}}) {
            const OperationCase made = chunked(one, chunk);
            const OperationTraceD trace = made.forward();
            const TraceD exact = made.exact();
            const Stage last = made.spec.drops() ? Stage::dropped : Stage::weights;
            CHECK(difference(trace["implied"], exact[last], made.name) == "");
            CHECK(difference(trace["context"], exact[Stage::context], made.name) == "");
            CHECK(difference(trace["output"], exact[Stage::output], made.name) == "");
            CHECK(difference(trace["logsumexp"], exact.logsumexp, made.name) == "");
        }
}

TEST_CASE("every chunk size gives softmax attention's gradients of stages, inputs, parameters") {
    for (const Case& one : every_case())
        for (const Index chunk : {Index{1}, Index{3}, Index{1000}}) {
            const OperationCase made = chunked(one, chunk);
            const OperationTraceD d = made.backward();
            const TraceD exact =
                attend_exact_backward(made.inputs, made.spec, made.exact(), made.upstream).value();
            for (const OperationStage& row : info(Operation::chunked).stages)
                if (const auto stage = find_stage(row.key))
                    CHECK(difference(d[row.key], exact[*stage],
                                     fmt::format("d_{} of {}", row.key, made.name), 1e-11) == "");
            const Stage last = made.spec.drops() ? Stage::dropped : Stage::weights;
            CHECK(difference(d["implied"], exact[last], made.name) == "");
            for (const ParamInfo& param : param_table())
                CHECK(difference(d.call_params[param.param], exact.params[param.param],
                                 fmt::format("d_{} of {}", param.key, made.name), 1e-11) == "");
        }
}

TEST_CASE("before the first chunk the sum is 0, or a sink's 1: what a factor of it would do") {
    bool some = false;
    for (const Case& one : every_case()) {
        const OperationCase made = chunked(one, 2);
        const OperationTraceD d = made.backward();
        const TensorD& sinks = made.inputs.params[Param::sinks];
        CAPTURE(made.name);
        for_each_row(d["rescale"].shape(), [&](Index b, Index h, Index i) {
            const bool sink = !sinks.empty() && std::isfinite(sinks(0, 0, 0, h));
            const double expected = sink ? d["running_sum"](b, h, i, 0) : 0.0;
            CHECK(d["rescale"](b, h, i, 0) == expected);
            some = some || expected != 0.0;
        });
    }
    CHECK(some);
}

TEST_CASE("a NaN behind the mask stays there, one before it takes its row; ∞ is as in softmax") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double inf = std::numeric_limits<double>::infinity();
    for (const double bad : {nan, inf, -inf, 1e300, -1e300})
        for (const Index chunk : {Index{1}, Index{2}, Index{9}}) {
            OperationCase one = sample(Operation::chunked, 4, 4);
            one.operation.chunk = chunk;
            one.spec.mask.causal = CausalAlign::top_left;
            one.inputs.k(0, 0, 2, 0) = bad;
            const OperationTraceD trace = one.forward();
            const TraceD exact = one.exact();
            CHECK(difference(trace["implied"], exact[Stage::weights], "A") == "");
            CHECK(difference(trace["context"], exact[Stage::context], "context") == "");
            CHECK(std::isfinite(trace["context"](0, 0, 1, 0)));
            CHECK(trace["context"](0, 0, 1, 0) != 0.0);
        }
}

TEST_CASE("the last running maximum and sum are those of the whole row") {
    const OperationCase one = sample(Operation::chunked, 3, 7);
    const OperationTraceD trace = one.forward();
    const TensorD& masked = trace["masked"];
    for (Index i = 0; i < 3; ++i) {
        double largest = -1e300, sum = 0.0;
        for (const double value : masked.matrix(1, 3).row(i)) largest = std::max(largest, value);
        for (const double value : masked.matrix(1, 3).row(i)) sum += std::exp(value - largest);
        CHECK(trace["running_max"](1, 3, i, 3) == largest);
        CHECK(trace["running_sum"](1, 3, i, 3) == doctest::Approx(sum));
    }
}
