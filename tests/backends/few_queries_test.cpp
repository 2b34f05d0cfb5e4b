// Fused attention of few queries, as in decoding: keys in parts, columns in the lanes. It serves calls that do not keep V,
// so every call here keeps the context alone.

#include "core/scores/score.h"
#include "tests/support/targets.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

#include "core/call.h"
#include "core/cast.h"
#include "core/kernels/fused_drive_few.h"
#include "core/kernels/peak.h"
#include "core/threads.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/edges.h"
#include "tests/support/inputs.h"
#include "tests/support/results.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

const StageSet kContext = StageSet().set(index_of(Stage::context));

Trace attend_few(const Inputs& inputs, const AttentionSpec& spec) {
    return attend(inputs, spec, "fused", kContext).value();
}

/// "" when context and logsumexp are the exact ones up to rounding, of the largest entry, on every target.
std::string compare(const Case& one, double part = 3e-6) {
    const TraceD exact = attend_exact(cast<double>(one.inputs), one.spec).value();
    std::string wrong;
    on_every_target([&] {
        const Trace got = attend_few(one.inputs, one.spec);
        const std::string what = fmt::format("{} on {}", one.name, simd_target());
        const auto check = [&](const Tensor& actual, const TensorD& expected) {
            const double most = part * std::max(largest_of(expected), 1.0);
            if (wrong.empty()) wrong = tensor_mismatch(actual, expected, {most, 0.0}, what);
        };
        check(got[Stage::context], exact[Stage::context]);
        check(got.logsumexp, exact.logsumexp);
    });
    return wrong;
}

/// 6 query heads that share 2 key/value heads, and more keys than a part has.
Case decoding_case(std::string name, Index tq, Index tk = 1300, Index d_k = 37, Index d_v = 70) {
    return normal_case(std::move(name), {1, 6, tq, d_k}, {1, 2, tk, d_k}, d_v);
}

AttentionSpec& everything(AttentionSpec& spec) {
    spec.softcap = 2.0;
    spec.alibi = true;
    spec.rope = Rope{RopePairs::half, 500.0, 6};
    spec.mask.causal = CausalAlign::bottom_right;
    spec.mask.window_left = 700;
    spec.mask.global_tokens = 3;
    spec.dropout = 0.2;
    return spec;
}

}  // namespace

TEST_CASE("few queries: every kind that fused takes gives the exact context") {
    for (const auto& cases : {engine_cases(Sizes::odd), kind_cases(Sizes::odd)})
        for (const Case& one : cases)
            if (is_dot(one.spec.score)) CHECK(compare(one) == "");
}

TEST_CASE("few queries: any number of them, over many parts of the keys") {
    for (Index tq = 1; tq <= 47; tq += tq < 14 ? 1 : 5) {
        CHECK(compare(decoding_case(fmt::format("{} queries", tq), tq)) == "");
        Case one = decoding_case(fmt::format("{} queries, everything", tq), tq);
        everything(one.spec);
        one.inputs.params[Param::sinks] = normal_tensor<float>({1, 1, 1, 6}, 9);
        CHECK(compare(one) == "");
    }
    for (const Index d : {1, 3, 8, 64, 129})
        CHECK(compare(decoding_case(fmt::format("width {}", d), 3, 600, d, d + 1)) == "");
    for (const Index tk : {1, 2, 63, 64, 65, 511, 513, 1025})
        CHECK(compare(decoding_case(fmt::format("{} keys", tk), 1, tk)) == "");
}

TEST_CASE("few queries: each mask over many parts of the keys") {
    const auto masked = [](std::string name, Index tq, const auto& set) {
        Case one = decoding_case(std::move(name), tq);
        set(one.spec.mask);
        CHECK(compare(one) == "");
        one.spec.alibi = true;
        one.spec.query_offset = one.spec.mask.causal == CausalAlign::bottom_right
                                    ? std::optional<Index>()
                                    : std::optional<Index>(5000);
        CHECK(compare(one, 1e-5) == "");  // the keys that are left stand 500 from the nearest
    };
    for (const Index tq : {1, 5}) {
        masked("causal", tq, [](MaskSpec& m) { m.causal = CausalAlign::bottom_right; });
        masked("top-left", tq, [](MaskSpec& m) { m.causal = CausalAlign::top_left; });
        masked("window", tq, [](MaskSpec& m) { m.window = 4200; });
        masked("padding", tq, [](MaskSpec& m) { m.padding = {777}; });
        masked("block", tq, [](MaskSpec& m) { m.block = 900; });
        masked("custom", tq, [&](MaskSpec& m) {
            Mask mask({1, 6, tq, 1300}, 1);
            for (Index n = 0; n < mask.count(); n += 3) mask.values()[n] = 0;
            m.custom = std::make_shared<const Mask>(std::move(mask));
        });
    }
}

TEST_CASE("few queries: the same numbers on one thread and on several") {
    Case one = decoding_case("threads", 2, 5000);
    everything(one.spec);
    const Trace several = attend_few(one.inputs, one.spec);
    CHECK(largest_of(several[Stage::context]) > 0.01);
    for (const int threads : {1, 3}) {
        const ThreadLimit limit(threads);
        const Trace other = attend_few(one.inputs, one.spec);
        CHECK(other[Stage::context] == several[Stage::context]);
        CHECK(other.logsumexp == several.logsumexp);
    }
}

TEST_CASE("few queries treat NaN, inf, far scores and forbidden keys as every backend does") {
    on_every_target([&] {
        CAPTURE(simd_target());
        check_edges(attend_few, false, {kNan, kInf});
    });
}

TEST_CASE("few queries: a forbidden key whose value is NaN in one part counts nowhere") {
    Case one = decoding_case("spoilt", 2);
    one.spec.mask.padding = {1200};
    const Trace clean = attend_few(one.inputs, one.spec);
    Case spoilt = one;
    for (Index g = 0; g < 2; ++g) spoilt.inputs.v(0, g, 1250, 3) = kNan;
    CHECK(attend_few(spoilt.inputs, one.spec)[Stage::context] == clean[Stage::context]);
    Mask mask({1, 1, 2, 1300}, 1);
    mask(0, 0, 1, 700) = 0;
    one.spec.mask = {};
    one.spec.mask.custom = std::make_shared<const Mask>(std::move(mask));
    for (Index g = 0; g < 2; ++g) one.inputs.v(0, g, 700, 3) = kNan;
    const Trace got = attend_few(one.inputs, one.spec);
    for (Index h = 0; h < 6; ++h) {
        CHECK(std::isnan(got[Stage::context](0, h, 0, 3)));
        CHECK(!std::isnan(got[Stage::context](0, h, 0, 4)));
        CHECK(!std::isnan(got[Stage::context](0, h, 1, 3)));
    }
}

TEST_CASE("few queries: a call that is stopped fails") {
    const Case one = decoding_case("stop", 1);
    const Call call = validate(one.inputs, one.spec).value();
    CHECK(has_few_queries(call.size()));
    CHECK(!attend_few_queries(call, {one.inputs.q, one.inputs.k, one.inputs.v}, {stopped(), {}}));
}
