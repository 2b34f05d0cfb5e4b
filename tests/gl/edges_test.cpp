// NaN, inf, empty rows, stopping, what does not fit and what cannot run, by the stage kernels and the fused one.

#include <doctest/doctest.h>

#include <cmath>

#include "core/call.h"
#include "core/engine.h"
#include "core/kernels/fused.h"
#include "tests/gl/the_backend.h"
#include "tests/support/edges.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::test;

namespace {

/// By the stage kernels, then by the fused one.
std::array<Trace, 2> both(const Inputs& inputs, const AttentionSpec& spec) {
    return {attend(inputs, spec, the_backend()).value(),
            attend(inputs, spec, the_backend(), fused_stages()).value()};
}

}  // namespace

TEST_CASE("NaN, inf, far scores and forbidden keys, by the stage kernels and the fused one") {
    for (const bool all : {true, false})
        check_edges(
            [&](const Inputs& inputs, const AttentionSpec& spec) {
                return attend(inputs, spec, the_backend(), all ? all_stages() : fused_stages())
                    .value();
            },
            all);
    for (const float bad : {kNan, kInf})
        for (const Trace& trace : both(column_inputs({bad, 1}, {1, 2, 3}, {1, 2, 3}), {}))
            CHECK(std::isnan(trace.logsumexp(0, 0, 0, 0)));
}

TEST_CASE("an empty row is 0 under zero and NaN under nan") {
    const Inputs inputs = column_inputs({1, 2}, {1, 2}, {1, 2});
    AttentionSpec spec = masked_by(2, 2, {0, 0, 1, 1});
    for (const Trace& trace : both(inputs, spec)) {
        CHECK(trace[Stage::context](0, 0, 0, 0) == 0.0F);
        CHECK(trace.logsumexp(0, 0, 0, 0) == -kInf);
        CHECK(trace[Stage::context](0, 0, 1, 0) > 1.0F);
    }
    spec.empty_rows = EmptyRows::nan;
    const auto traces = both(inputs, spec);
    CHECK(all_nan(traces[0][Stage::weights].matrix(0, 0).row(0)));
    for (const Trace& trace : traces) {
        CHECK(std::isnan(trace[Stage::context](0, 0, 0, 0)));
        CHECK(std::isfinite(trace[Stage::context](0, 0, 1, 0)));
    }
}

TEST_CASE("scores beyond the float range are inf and NaN, never plausible") {
    for (const Trace& trace : both(column_inputs({1e30F, 1}, {1e30F, 1}, {1, 2}), {}))
        CHECK(std::isnan(trace[Stage::context](0, 0, 0, 0)));
}

TEST_CASE("a call that is stopped fails with one sentence, and the next one computes") {
    const Inputs inputs = four_tokens();
    const Call call = validate(inputs, {}).value();
    for (const StageSet keep : {all_stages(), fused_stages()}) {
        CHECK(must_fail(the_backend().forward(call, keep, {stopped(), {}})).text() ==
              "the attention call was stopped");
        CHECK(the_backend().forward(call, keep, {}));
    }
}

TEST_CASE("gradients are refused with the names of the backends that compute them") {
    const Inputs inputs = four_tokens();
    const Trace trace = attend(inputs, {}, the_backend()).value();
    CHECK(must_fail(attend_backward(inputs, {}, trace, {}, the_backend())).text() ==
          "backend gl computes no gradients: choose one of reference, staged, fused");
}

TEST_CASE("queries wider than the fused kernel takes fail alone, and their scores are stored") {
    Inputs inputs;
    inputs.q = inputs.k = Tensor({1, 1, 2, 29'857}, 1e-3F);
    inputs.v = Tensor({1, 1, 2, 1}, {1.0F, 3.0F});
    CHECK(must_fail(attend(inputs, {}, the_backend(), StageSet().set(index_of(Stage::context))))
              .text()
              .find("d_k of at most 29856, and here are 29857") != std::string::npos);
    const auto stored = must(attend(inputs, {}, the_backend()));
    CHECK(stored[Stage::context](0, 0, 0, 0) == doctest::Approx(2.0));
    inputs.q = inputs.k = Tensor({1, 1, 2, 29'856}, 1e-3F);
    const auto fused =
        must(attend(inputs, {}, the_backend(), StageSet().set(index_of(Stage::context))));
    CHECK(fused[Stage::context](0, 0, 1, 0) == doctest::Approx(2.0));
}

TEST_CASE("a tensor that is larger than a buffer may be fails alone, by name") {
    constexpr Index kTokens = 34'000'000;  // of width 1, four floats each: past 128 MiB
    if (the_backend().renderer().find("llvmpipe") == std::string::npos) return;
    Inputs inputs;
    inputs.q = Tensor({1, 1, 1, 1}, 1.0F);
    inputs.k = inputs.v = Tensor({1, 1, kTokens, 1}, 1.0F);
    const auto trace =
        must_fail(attend(inputs, {}, the_backend(), StageSet().set(index_of(Stage::context))));
    CHECK(trace.kind == ErrorKind::failure);
    CHECK(trace.text().find("K takes 518.8 MiB, but OpenGL's buffers hold at most 128 MiB") == 0);
    CHECK(the_backend().unavailable() == std::nullopt);
}
