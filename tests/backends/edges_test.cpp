// How NaN, inf, empty rows and overflow are treated, by every backend.

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/backends.h"
#include "tests/support/edges.h"

using namespace attn;
using namespace attn::test;

TEST_CASE("NaN, inf, far scores and forbidden keys, by every backend that keeps weights") {
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        CAPTURE(backend->name());
        check_edges(
            [&](const Inputs& inputs, const AttentionSpec& spec) {
                return attend(inputs, spec, backend->name()).value();
            },
            true);
    }
    for (const float bad : {kNan, kInf})
        for (const Trace& trace : traces_of(column_inputs({bad, 1}, {1, 2, 3}, {1, 2, 3})))
            CHECK(std::isnan(trace.logsumexp(0, 0, 0, 0)));
}

TEST_CASE("an allowed score of -inf weighs exactly 0 beside finite ones") {
    const Inputs inputs =
        column_inputs({1}, {-kInf, 2, 2, 1, 0, 0, 0, 0, 0}, std::vector<float>(9));
    for (const Trace& trace : traces_of(inputs)) {
        CHECK(trace[Stage::weights](0, 0, 0, 0) == 0.0F);
        CHECK(trace[Stage::weights](0, 0, 0, 1) > 0.2F);
    }
}

TEST_CASE("a forbidden key whose K and V are NaN has no gradient, and gives none") {
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        const Inputs inputs = column_inputs({1, 1}, {0, 0, kNan}, {1, 3, kNan});
        const AttentionSpec spec = masked_by(2, 3, {1, 1, 0, 1, 1, 0});
        const Trace d = both_passes(inputs, spec, backend->name()).d;
        CHECK(std::isnan(d[Stage::weights](0, 0, 0, 2)));
        CHECK(d[Stage::masked](0, 0, 0, 2) == 0.0F);
        CHECK(d[Stage::q](0, 0, 0, 0) == 0.0F);
        CHECK(d[Stage::k](0, 0, 2, 0) == 0.0F);
        CHECK(d[Stage::v](0, 0, 2, 0) == 0.0F);
        CHECK(d[Stage::v](0, 0, 0, 0) == 1.0F);
    }
}

TEST_CASE("a NaN query leaves the gradients of keys it may not attend to alone") {
    for (const Backend* backend : backends()) {
        const Inputs inputs = column_inputs({kNan, 1}, {1, 2}, {1, 2});
        const AttentionSpec spec = masked_by(2, 2, {1, 0, 1, 1});
        const Trace d = both_passes(inputs, spec, backend->name()).d;
        CHECK(std::isnan(d[Stage::k](0, 0, 0, 0)));
        CHECK(std::isfinite(d[Stage::k](0, 0, 1, 0)));
        CHECK(std::isfinite(d[Stage::v](0, 0, 1, 0)));
    }
}

TEST_CASE("an infinite upstream gradient makes NaN of all gradients of its row's scores") {
    for (const Backend* backend : backends())
        for (const float bad : {kInf, -kInf, kNan}) {
            if (!backend->has_backward()) continue;
            CAPTURE(backend->name());
            const Inputs inputs = column_inputs({1, 1}, {0, 0}, {2, -1});
            const Upstream upstream{Stage::context, Tensor({1, 1, 2, 1}, {bad, 0})};
            const Trace d = both_passes(inputs, {}, backend->name(), upstream).d;
            CHECK(all_nan(d[Stage::k].values()));
            CHECK(std::isnan(d[Stage::q](0, 0, 0, 0)));
            CHECK(d[Stage::q](0, 0, 1, 0) == 0.0F);
        }
}

TEST_CASE("an empty row is 0 without gradient under zero, and NaN that travels under nan") {
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        const Inputs inputs = column_inputs({1, 2}, {1, 2}, {1, 2});
        AttentionSpec spec = masked_by(2, 2, {0, 0, 1, 1});
        const auto [zero, d_zero] = both_passes(inputs, spec, backend->name());
        CHECK(zero[Stage::weights](0, 0, 0, 0) == 0.0F);
        CHECK(zero[Stage::context](0, 0, 0, 0) == 0.0F);
        CHECK(zero.logsumexp(0, 0, 0, 0) == -kInf);
        CHECK(d_zero[Stage::scores](0, 0, 0, 0) == 0.0F);
        CHECK(d_zero[Stage::q](0, 0, 0, 0) == 0.0F);
        CHECK(std::isfinite(d_zero[Stage::k](0, 0, 0, 0)));

        spec.empty_rows = EmptyRows::nan;
        const auto [nan, d_nan] = both_passes(inputs, spec, backend->name());
        CHECK(all_nan(nan[Stage::weights].matrix(0, 0).row(0)));
        CHECK(std::isnan(nan[Stage::context](0, 0, 0, 0)));
        CHECK(std::isfinite(nan[Stage::context](0, 0, 1, 0)));
        CHECK(all_nan(d_nan[Stage::masked].matrix(0, 0).row(0)));
        CHECK(std::isnan(d_nan[Stage::q](0, 0, 0, 0)));
        CHECK(std::isnan(d_nan[Stage::k](0, 0, 1, 0)));
        CHECK(std::isnan(d_nan[Stage::v](0, 0, 1, 0)));
    }
}

TEST_CASE("scores beyond the float range are inf and NaN by staged, never plausible") {
    const Inputs inputs = column_inputs({1e30F, 1}, {1e30F, 1}, {1, 2});
    const Trace trace = attend(inputs, {}, "staged").value();
    CHECK(trace[Stage::scores](0, 0, 0, 0) == kInf);
    CHECK(all_nan(trace[Stage::weights].matrix(0, 0).row(0)));
    CHECK(std::isnan(trace[Stage::context](0, 0, 0, 0)));
}
