// The gl backend against the exact result over odd sizes, masks and options: every shader by itself, and the fused one.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/call.h"
#include "core/cast.h"
#include "core/kernels/fused.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "tests/gl/the_backend.h"
#include "tests/support/cases.h"
#include "tests/support/random.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

/// What differs from the exact result when every stage is kept, and when the fused kernel computes; "" when nothing.
std::string compare(const Case& one, const Backend& backend = the_backend()) {
    const InputsD inputs = cast<double>(one.inputs);
    const TraceD exact = attend_exact(inputs, one.spec).value();
    const ErrorBounds bounds = error_bounds(inputs, one.spec, exact, {}, kFloatRoundoff);
    for (const StageSet keep : {all_stages(), fused_stages()}) {
        const auto trace = attend(one.inputs, one.spec, backend, keep);
        if (!trace) return trace.error().text();
        const std::string what =
            fmt::format("{} by gl {}", one.name, keep == all_stages() ? "stages" : "fused");
        if (std::string wrong = forward_mismatch(*trace, exact, bounds, what, keep); !wrong.empty())
            return wrong;
    }
    return {};
}

/// Of the largest value of an array, as in tests/backends/kinds_test.cpp: the bounds above know no rotated rows.
constexpr double kOfLargest = 2e-5;

std::string mismatch(const Tensor& got, const TensorD& expected, const std::string& what) {
    if (got.shape() != expected.shape()) return what + " has another shape";
    const double largest = largest_of(expected);
    for (std::size_t n = 0; n < got.values().size(); ++n) {
        const double value = got.values()[n], wanted = expected.values()[n];
        if (value == wanted || (std::isnan(value) && std::isnan(wanted))) continue;
        if (!(std::abs(value - wanted) <= kOfLargest * largest))
            return fmt::format("{} entry {} is {}, expected {}", what, n, value, wanted);
    }
    return {};
}

/// Every stage, those of normalised and rotated rows too, and logsumexp.
std::string compare_kind(const Case& one) {
    const TraceD exact = attend_exact(cast<double>(one.inputs), one.spec).value();
    for (const StageSet keep : {all_stages(), fused_stages()}) {
        const auto trace = attend(one.inputs, one.spec, the_backend(), keep);
        if (!trace) return trace.error().text();
        for (const StageInfo& stage : stage_table()) {
            if (!keep[index_of(stage.stage)]) continue;
            if (std::string wrong = mismatch((*trace)[stage.stage], exact[stage.stage],
                                             fmt::format("{} of {}", stage.key, one.name));
                !wrong.empty())
                return wrong;
        }
        if (std::string wrong =
                mismatch(trace->logsumexp, exact.logsumexp, "logsumexp of " + one.name);
            !wrong.empty())
            return wrong;
    }
    return {};
}

Case given(std::string name, Index tq, Index tk, Index d_k, Index d_v) {
    return normal_case(std::move(name), {1, 1, tq, d_k}, {1, 1, tk, d_k}, d_v);
}

}  // namespace

TEST_CASE("every shader agrees with the exact result") {
    for (const Case& one : engine_cases(Sizes::odd)) CHECK(compare(one) == "");
}

TEST_CASE("QK-norm, RoPE and scores of other rows of Q and K agree with the exact result") {
    std::map<std::string_view, int> computed;
    for (const Case& one : kind_cases(Sizes::odd)) {
        if (the_backend().supports(validate(one.inputs, one.spec).value())) continue;
        CHECK(compare_kind(one) == "");
        for (const Feature& feature : features(one.spec, one.inputs.params, {"query_offset"}))
            ++computed[feature.key];
    }
    for (const std::string_view key : {"qk_norm", "rope", "scale q_and_k", "cosine", "general"}) {
        CAPTURE(key);
        CHECK(computed[key] >= 4);  // of each size
    }
    CHECK(computed.size() == 5);
}

TEST_CASE("the shaders refuse an option of each pair, by its name") {
    Case one = given("refused", 3, 3, 2, 2);
    one.spec.softcap = 1.0;
    CHECK(the_backend().supports(validate(one.inputs, one.spec).value()) ==
          "its shaders have no softcap; expected backend staged, fused or reference");
    one.spec.softcap.reset();
    one.spec.score = Score::student_t;
    CHECK(the_backend().supports(validate(one.inputs, one.spec).value()) ==
          "its shaders have no student_t; expected backend staged, fused or reference");
}

TEST_CASE(
    "queries with an offset have their rows of the square call, under every rule of the shaders") {
    int computed = 0;
    for (const ShiftedCase& one : shifted_cases()) {
        if (the_backend().supports(validate(one.part.inputs, one.part.spec).value())) continue;
        ++computed;
        const TraceD exact = attend_exact(cast<double>(one.square.inputs), one.square.spec).value();
        const TensorD expected =
            rows_from(exact[Stage::context], one.first, one.part.inputs.q.shape().t);
        for (const StageSet keep : {all_stages(), fused_stages()}) {
            const Trace got = attend(one.part.inputs, one.part.spec, the_backend(), keep).value();
            CAPTURE(one.part.name);
            CHECK(worst_error(got[Stage::context], expected) < 1e-5 * largest_of(expected));
        }
    }
    CHECK(computed == 32);  // 8 rules, each of 4 sizes
}

TEST_CASE("huge logits agree within what rounding a score costs its exp") {
    for (Case one : engine_cases(Sizes::small)) {
        if (one.inputs.projects()) continue;
        for (float& value : one.inputs.q.values()) value *= 30.0F;
        CHECK(compare(one) == "");
    }
}

TEST_CASE("several groups of queries, tiles of keys and slices of depth agree with exact results") {
    Case one = given("N = 200", 200, 210, 66, 40);
    CHECK(compare(one) == "");
    one.spec.mask.causal = CausalAlign::bottom_right;
    one.spec.mask.window = 90;
    CHECK(compare(one) == "");
    CHECK(compare(given("wide V", 9, 70, 5, 68)) == "");
    CHECK(compare(given("wider V than one pass of the fused kernel", 9, 70, 5, 150)) == "");
}

// Mesa's software renderer silently stops the loops of an invocation after 65,535 rounds. Dispatches of 7 ms never get
// there; without that limit it is the count of rounds that must cut them.
TEST_CASE("more keys than the software renderer lets a loop go round agree with the exact result") {
    Case one = given("70,000 keys", 2, 70000, 4, 4);
    CHECK(compare(one) == "");
    one.spec.mask.causal = CausalAlign::bottom_right;
    CHECK(compare(one, gl::ComputeBackend(1e6)) == "");
}

TEST_CASE("more terms of a projection than one dispatch takes agree with the exact result") {
    Case one;
    one.name = "d_model 5000";
    one.inputs.x = normal_tensor<float>({1, 1, 2, 5000}, 1);
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v})
        one.inputs.params[param] = normal_tensor<float>({1, 1, 5000, 3}, 2, 0.01);
    CHECK(compare(one) == "");
}

TEST_CASE("a call that keeps fewer stages gives the same numbers in those it keeps") {
    for (const Case& one : engine_cases(Sizes::small)) {
        const Trace all = attend(one.inputs, one.spec, the_backend()).value();
        for (const Stage stage : {Stage::q, Stage::scaled, Stage::weights}) {
            StageSet keep;
            keep.set(index_of(stage));
            const Trace few = attend(one.inputs, one.spec, the_backend(), keep).value();
            for (const StageInfo& other : stage_table())
                if (other.stage != stage) CHECK(few[other.stage].empty());
            CHECK(tensor_mismatch(few[stage], all[stage], {}, one.name) == "");
        }
    }
}
