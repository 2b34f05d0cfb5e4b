// The fused backend on every instruction set it is compiled for that this machine has, past its block sizes,
// at the edges of arithmetic, stopped and on several threads.

#include "core/stages.h"
#include "tests/support/targets.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/bias.h"
#include "core/call.h"
#include "core/kernels/fused.h"
#include "core/kernels/peak.h"
#include "core/spec_arrays.h"
#include "core/threads.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/edges.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

std::string compare(const Case& one) {
    const ExactCase exact = exact_of(one);
    const ErrorBounds bounds =
        error_bounds(exact.inputs, one.spec, exact.forward, exact.d, kFloatRoundoff);
    std::string wrong;
    on_every_target([&] {
        if (!wrong.empty()) return;
        const auto [forward, d] = both_passes(one.inputs, one.spec, "fused", one.upstream);
        const std::string what = fmt::format("{} by fused on {}", one.name, simd_target());
        wrong = forward_mismatch(forward, exact.forward, bounds, what, fused_stages());
        if (wrong.empty()) wrong = backward_mismatch(d, exact.d, bounds, what, fused_stages());
    });
    return wrong;
}

/// More queries and keys than a block, a chunk or a group of any target holds.
Case long_case(std::string name, Index d_k, Index d_v) {
    return normal_case(std::move(name), {1, 4, 211, d_k}, {1, 2, 293, d_k}, d_v);
}

}  // namespace

TEST_CASE("fused agrees with the exact result, over many blocks too and narrow and wide heads") {
    for (const Case& one : engine_cases(Sizes::odd)) CHECK(compare(one) == "");
    CHECK(compare(long_case("long", 37, 70)) == "");
    CHECK(compare(long_case("long, d = 1", 1, 1)) == "");
    CHECK(compare(long_case("long, d = 256", 256, 255)) == "");
    Case one = long_case("long causal", 16, 8);
    one.spec.mask.causal = CausalAlign::top_left;
    CHECK(compare(one) == "");
    one.spec.mask.causal = CausalAlign::bottom_right;
    CHECK(compare(one) == "");
    one.spec.mask.window = 40;
    CHECK(compare(one) == "");
    one.spec.mask = {};
    one.spec.mask.block = 100;
    CHECK(compare(one) == "");
    one.spec.mask.padding = {131};
    one.spec.dropout = 0.2;
    CHECK(compare(one) == "");
}

TEST_CASE("fused context and gradients are within 2e-6 of the largest exact entry") {
    const Case one = long_case("plain", 64, 64);
    const ExactCase exact = exact_of(one);
    const auto relative = [](const Tensor& actual, const TensorD& expected) {
        return worst_error(actual, expected) / largest_of(expected);
    };
    on_every_target([&] {
        CAPTURE(simd_target());
        const auto [forward, d] = both_passes(one.inputs, one.spec, "fused", one.upstream);
        CHECK(relative(forward[Stage::context], exact.forward[Stage::context]) <= 2e-6);
        for (const Stage stage : {Stage::q, Stage::k, Stage::v})
            CHECK(relative(d[stage], exact.d[stage]) <= 2e-6);
    });
}

TEST_CASE("fused treats NaN, inf, far scores and forbidden keys as every backend does") {
    // its low bits, shifted into an exponent, would hide it
    const auto payload = std::bit_cast<float>(0x7FC0'0001U);
    on_every_target([&] {
        CAPTURE(simd_target());
        check_edges([](const Inputs& inputs,
                       const AttentionSpec& spec) { return attend(inputs, spec, "fused").value(); },
                    false, {kNan, kInf, payload});
    });
}

TEST_CASE("fused gives forbidden keys no gradient even where K and V are NaN") {
    const Inputs inputs = column_inputs({1, 1}, {0, 0, kNan}, {1, 3, kNan});
    const AttentionSpec spec = masked_by(2, 3, {1, 1, 0, 1, 1, 0});
    on_every_target([&] {
        CAPTURE(simd_target());
        const Trace d = both_passes(inputs, spec, "fused").d;
        CHECK(d[Stage::q](0, 0, 0, 0) == 0.0F);
        CHECK(d[Stage::k](0, 0, 2, 0) == 0.0F);
        CHECK(d[Stage::v](0, 0, 2, 0) == 0.0F);
        CHECK(d[Stage::v](0, 0, 0, 0) == 1.0F);
    });
}

TEST_CASE("fused: a NaN key that no query may attend to changes no gradient of another") {
    Case one = normal_case("one key is NaN", {1, 2, 300, 24}, {1, 2, 300, 24}, 24);
    one.spec.mask.causal = CausalAlign::bottom_right;
    one.spec.mask.window = 70;
    one.spec.mask.padding = {299};
    const ExactCase exact = exact_of(one);
    for (Index h = 0; h < 2; ++h)
        for (Tensor* tensor : {&one.inputs.k, &one.inputs.v})
            for (float& value : tensor->matrix(0, h).row(299)) value = kNan;
    on_every_target([&] {
        CAPTURE(simd_target());
        const Trace d = both_passes(one.inputs, one.spec, "fused", one.upstream).d;
        for (const Stage stage : {Stage::q, Stage::k, Stage::v}) {
            const Tolerance tolerance{5e-6 * largest_of(exact.d[stage]), 0.0};
            CHECK(tensor_mismatch(d[stage], exact.d[stage], tolerance, info(stage).key) == "");
        }
    });
}

TEST_CASE("fused makes NaN of empty rows and their gradients where they are to be NaN") {
    AttentionSpec spec = masked_by(2, 3, {1, 1, 0, 0, 0, 0});
    spec.empty_rows = EmptyRows::nan;
    const Inputs finite = column_inputs({1, 2}, {1, 2, 5}, {1, 2, 3});
    const auto [trace, d] = both_passes(finite, spec, "fused");
    CHECK(std::isfinite(trace[Stage::context](0, 0, 0, 0)));
    CHECK(std::isnan(trace[Stage::context](0, 0, 1, 0)));
    CHECK(trace.logsumexp(0, 0, 1, 0) == -kInf);
    CHECK(std::isfinite(d[Stage::q](0, 0, 0, 0)));
    for (const Stage stage : {Stage::k, Stage::v}) CHECK(std::isnan(d[stage](0, 0, 2, 0)));
    CHECK(std::isnan(d[Stage::q](0, 0, 1, 0)));
}

TEST_CASE("fused gives the same forward numbers on one thread and on several") {
    Case causal = long_case("threads", 24, 24);
    causal.spec.mask.causal = CausalAlign::bottom_right;
    Case window = normal_case("threads, window", {1, 1, 2000, 8}, {1, 1, 2000, 8}, 8);
    window.spec.mask.causal = CausalAlign::bottom_right;
    window.spec.mask.window = 100;
    for (const Case& one : {causal, window}) {
        CAPTURE(one.name);
        const Trace several = attend(one.inputs, one.spec, "fused").value();
        CHECK(largest_of(several[Stage::context]) > 0.1);
        const ThreadLimit limit(1);
        CHECK(thread_count() == 1);
        const Trace single = attend(one.inputs, one.spec, "fused").value();
        CHECK(single[Stage::context] == several[Stage::context]);
        CHECK(single.logsumexp == several.logsumexp);
    }
}

TEST_CASE("the gradient of a sink keeps its digits where logits are huge") {
    Inputs inputs = normal_inputs({1, 1, 12, 64});
    for (float& value : inputs.q.values()) value *= 0.1F;
    for (Index i = 0; i < 12; ++i) inputs.q(0, 0, i, 0) = inputs.k(0, 0, i, 0) = 240.0F;
    inputs.v = Tensor({1, 1, 12, 2}, std::vector<float>(24, 1.0F));  // so context is Σ a
    inputs.params[Param::sinks] = Tensor({1, 1, 1, 1}, {240.0F * 240.0F + 2.5F});
    AttentionSpec spec;
    spec.scale = ScaleKind::none;
    const Upstream upstream{Stage::context, normal_tensor<float>({1, 1, 12, 2}, 5)};
    for (const std::string_view backend : {"fused", "staged"}) {
        CAPTURE(backend);
        const auto [forward, d] = both_passes(inputs, spec, backend, upstream);
        double expected = 0.0;
        for (Index i = 0; i < 12; ++i) {
            const double keys = forward[Stage::context](0, 0, i, 0);
            CHECK(keys > 0.01);
            CHECK(keys < 0.99);
            for (Index c = 0; c < 2; ++c)
                expected -= (1.0 - keys) * keys * upstream.gradient(0, 0, i, c);
        }
        const auto got = static_cast<double>(d.params[Param::sinks](0, 0, 0, 0));
        CHECK(got == doctest::Approx(expected).epsilon(1e-5));
    }
}

TEST_CASE("a fused call that is stopped fails, and one that is not tells its progress up to 1") {
    const Case one = long_case("stop", 8, 8);
    const Call call = validate(one.inputs, one.spec).value();
    std::stop_source source;
    std::atomic<double> furthest = 0.0;
    RunControl control{source.get_token(), [&](double done) {
                           if (done > furthest) furthest = done;
                       }};
    const auto forward = must(fused_forward(call, fused_stages(), control));
    CHECK(furthest == 1.0);
    source.request_stop();
    CHECK(must_fail(fused_forward(call, fused_stages(), control)).text() ==
          "the attention call was stopped");
    CHECK(!fused_backward(call, forward, one.upstream, control));
}

TEST_CASE("fused backward refuses a forward trace without logsumexp") {
    const Case one = long_case("no logsumexp", 4, 4);
    Trace forward = attend(one.inputs, one.spec, "fused").value();
    forward.logsumexp = {};
    const auto d = must_fail(attend_backward(one.inputs, one.spec, forward, one.upstream, "fused"));
    CHECK(d.text() ==
          "the forward trace holds the rows' sums as [0, 0, 0, 0] but backward needs [1, 4, 211, "
          "1]: expected a trace of backend fused");
}

TEST_CASE("fused gradients keep their digits where logits are huge, as staged does") {
    Inputs inputs = normal_inputs({1, 1, 12, 64});
    for (float& value : inputs.q.values()) value *= 40.0F;  // logits of some hundreds
    AttentionSpec spec;
    spec.scale = ScaleKind::none;
    // The keys beside each other, so that no row is decided.
    for (Index j = 1; j < 12; ++j)
        for (Index c = 0; c < 64; ++c)
            inputs.k(0, 0, j, c) = inputs.k(0, 0, 0, c) + 0.001F * inputs.k(0, 0, j, c);
    const auto gradients = [&](std::string_view backend) {
        return both_passes(inputs, spec, backend, {Stage::context, {}}).d;
    };
    const Trace exact = gradients("reference");
    const auto error = [&](const Trace& got, Stage stage) {
        return worst_error(got[stage], exact[stage]);
    };
    const Trace fused = gradients("fused");
    const Trace staged = gradients("staged");
    for (const Stage stage : {Stage::q, Stage::k, Stage::v}) {
        REQUIRE(error(staged, stage) > 0.0);
        CHECK(error(fused, stage) < 2.0 * error(staged, stage));
    }
}

TEST_CASE("rows that one key decides have no gradient of scores, to the bit") {
    Case one = normal_case("decided", {1, 2, 29, 64}, {1, 1, 70, 64}, 48);
    for (float& value : one.inputs.k.values()) value *= 16.0F;
    for (Index h = 0; h < 2; ++h)  // each query is a key
        for (Index i = 0; i < 29; ++i)
            std::ranges::copy(one.inputs.k.matrix(0, 0).row(i + h),
                              one.inputs.q.matrix(0, h).row(i).begin());
    one.spec.scale = ScaleKind::none;  // logits of some thousands
    on_every_target([&] {
        CAPTURE(simd_target());
        const Trace d = both_passes(one.inputs, one.spec, "fused", one.upstream).d;
        for (const Stage stage : {Stage::q, Stage::k}) CHECK(largest_of(d[stage]) == 0.0);
        CHECK(largest_of(d[Stage::v]) > 0.1);
    });
}

TEST_CASE("a soft cap bends scores as tanh does, from the smallest to far beyond the cap") {
    std::vector<float> scores;
    for (int n = -1300; n <= 1300; ++n) scores.push_back(0.01F * static_cast<float>(n));
    for (float size = 1.0F; size > 1e-6F; size *= 0.5F) scores.push_back(size);
    const Inputs inputs = column_inputs(scores, {1}, {1});  // one key: logsumexp is its logit
    AttentionSpec spec;
    spec.softcap = 1.5;
    on_every_target([&] {
        CAPTURE(simd_target());
        const Trace trace = attend(inputs, spec, "fused").value();
        double worst = 0.0;
        for (std::size_t n = 0; n < scores.size(); ++n) {
            const double exact = 1.5 * std::tanh(static_cast<double>(scores[n]) / 1.5);
            const auto got = static_cast<double>(trace.logsumexp(0, 0, static_cast<Index>(n), 0));
            if (exact != 0.0) worst = std::max(worst, std::abs(got / exact - 1.0));
        }
        CHECK(worst < 6e-7);
        CHECK(worst > 0.0);
    });
}

TEST_CASE("a mean of V near the end of float32's range is finite, though the sum is not") {
    for (const Index queries : {1, 3, 40}) {  // few queries have their own kernel
        CAPTURE(queries);
        Case one = normal_case("large V", {1, 2, queries, 8}, {1, 1, 300, 8}, 5);
        for (float& value : one.inputs.q.values()) value *= 0.1F;
        for (float& value : one.inputs.v.values()) value = 1e38F;
        one.inputs.v(0, 0, 7, 2) = -1e38F;
        one.inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {2.0F, -1.0F});
        const Trace exact = attend(one.inputs, one.spec, "reference").value();
        on_every_target([&] {
            CAPTURE(simd_target());
            const Trace got = attend(one.inputs, one.spec, "fused").value();
            CHECK(worst_error(got[Stage::context], exact[Stage::context]) < 1e33);
            CHECK(worst_error(got.logsumexp, exact.logsumexp) < 2e-6);
        });
    }
}

TEST_CASE("gradients keep their digits where a soft cap is saturated") {
    Case one = normal_case("saturated", {1, 1, 30, 8}, {1, 1, 30, 8}, 4);
    one.spec.softcap = 0.25;  // logits of up to 10 caps: slopes down to 1e-8
    const Trace exact = both_passes(one.inputs, one.spec, "reference", one.upstream).d;
    on_every_target([&] {
        CAPTURE(simd_target());
        const Trace d = both_passes(one.inputs, one.spec, "fused", one.upstream).d;
        for (Index i = 0; i < 30; ++i) {
            double size = 0.0, error = 0.0;
            for (Index c = 0; c < 8; ++c) {
                const double right = exact[Stage::q](0, 0, i, c);
                size = std::max(size, std::abs(right));
                error = std::max(error, std::abs(d[Stage::q](0, 0, i, c) - right));
            }
            CHECK(error < 1e-5 * size);
        }
    });
}

TEST_CASE("logsumexp of a row whose every bias is the lowest number is that number") {
    Case one = normal_case("lowest", {1, 1, 30, 8}, {1, 1, 20, 8}, 4);
    constexpr float kLowest = std::numeric_limits<float>::lowest();
    Tensor bias(Shape{1, 1, 30, 20});
    std::ranges::fill(bias.matrix(0, 0).row(3), kLowest);
    one.spec.mask.bias = make_bias(std::move(bias));
    on_every_target([&] {
        const Trace got = attend(one.inputs, one.spec, "fused").value();
        CHECK(got.logsumexp(0, 0, 3, 0) == kLowest);
        CHECK(got.logsumexp(0, 0, 2, 0) > 0.0F);
    });
}

TEST_CASE("the multiply-add peak is a positive number on every target") {
    on_every_target([] { CHECK(fma_peak_gflops(1, 1.0) > 0.0); });
}
