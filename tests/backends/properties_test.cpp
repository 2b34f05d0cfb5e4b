// What is true of attention whatever the numbers are.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "core/entries.h"
#include "tests/support/backends.h"
#include "tests/support/cases.h"
#include "tests/support/inputs.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

namespace {

Inputs random_inputs(Index heads, Index tokens, Index width) {
    return normal_inputs({1, heads, tokens, width});
}

double row_sum(const Tensor& weights, Index b, Index h, Index i) {
    double sum = 0.0;
    for (const float weight : weights.matrix(b, h).row(i)) sum += weight;
    return sum;
}

}  // namespace

TEST_CASE("rows of weights sum to 1, or to 0 where every key is masked") {
    for (const Backend* backend : backends_keeping(Stage::weights))
        for (const Case& one : engine_cases(Sizes::odd)) {
            if (one.spec.empty_rows == EmptyRows::nan) continue;
            const Trace trace = attend(one.inputs, one.spec, backend->name()).value();
            const Tensor& weights = trace[Stage::weights];
            const Shape& shape = weights.shape();
            for_each_row(shape, [&](Index b, Index h, Index i) {
                const bool empty = std::isinf(trace.logsumexp(b, h, i, 0));
                const double tolerance = kFloatRoundoff * (2.0 + static_cast<double>(shape.d));
                const double wrong = row_sum(weights, b, h, i) - (empty ? 0.0 : 1.0);
                CHECK(std::abs(wrong) <= tolerance);
            });
        }
}

TEST_CASE("causal weights do not depend on later tokens") {
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        Inputs inputs = random_inputs(2, 9, 4);
        const Trace before = attend(inputs, causal_spec(), backend->name()).value();
        for (Index h = 0; h < 2; ++h)
            for (Index c = 0; c < 4; ++c) {
                inputs.k(0, h, 8, c) = 1e30F;
                inputs.v(0, h, 8, c) = NAN;
            }
        const Trace after = attend(inputs, causal_spec(), backend->name()).value();
        CHECK(largest_of(before[Stage::context]) > 0.1);
        CHECK(row_sum(before[Stage::weights], 0, 0, 7) == doctest::Approx(1.0));
        for (Index h = 0; h < 2; ++h)
            for (Index i = 0; i < 8; ++i) {
                CHECK(std::ranges::equal(before[Stage::weights].matrix(0, h).row(i),
                                         after[Stage::weights].matrix(0, h).row(i)));
                for (Index c = 0; c < 4; ++c)
                    CHECK(after[Stage::context](0, h, i, c) ==
                          doctest::Approx(before[Stage::context](0, h, i, c)).epsilon(1e-6));
            }
    }
}

TEST_CASE("permuting keys with their values permutes weights and leaves the context") {
    const Inputs inputs = random_inputs(1, 6, 4);
    Inputs turned = inputs;
    for (Index j = 0; j < 6; ++j)
        for (Index c = 0; c < 4; ++c) {
            turned.k(0, 0, (j + 1) % 6, c) = inputs.k(0, 0, j, c);
            turned.v(0, 0, (j + 1) % 6, c) = inputs.v(0, 0, j, c);
        }
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        const Trace a = attend(inputs, {}, backend->name()).value();
        const Trace b = attend(turned, {}, backend->name()).value();
        CHECK(largest_of(a[Stage::context]) > 0.1);
        CHECK(row_sum(a[Stage::weights], 0, 0, 0) == doctest::Approx(1.0));
        for (Index i = 0; i < 6; ++i)
            for (Index j = 0; j < 6; ++j)
                CHECK(b[Stage::weights](0, 0, i, (j + 1) % 6) ==
                      doctest::Approx(a[Stage::weights](0, 0, i, j)).epsilon(1e-6));
        CHECK(tensor_mismatch(a[Stage::context], b[Stage::context], {1e-6, 1e-6}, "context") == "");
    }
}

TEST_CASE("grouped keys give what repeating each key head for its group gives") {
    Inputs grouped = random_inputs(6, 7, 4);
    grouped.k = normal_tensor<float>({1, 2, 7, 4}, 5);
    grouped.v = normal_tensor<float>({1, 2, 7, 4}, 6);
    Inputs repeated = grouped;
    repeated.k = Tensor({1, 6, 7, 4});
    repeated.v = Tensor({1, 6, 7, 4});
    for_each_entry(repeated.k.shape(), [&](Index, Index h, Index j, Index c) {
        repeated.k(0, h, j, c) = grouped.k(0, h / 3, j, c);
        repeated.v(0, h, j, c) = grouped.v(0, h / 3, j, c);
    });
    for (const Backend* backend : backends()) {
        const Trace a = attend(grouped, {}, backend->name()).value();
        const Trace b = attend(repeated, {}, backend->name()).value();
        CHECK(largest_of(a[Stage::context]) > 0.1);
        CHECK(a[Stage::context] == b[Stage::context]);
    }
}

TEST_CASE("a later batch entry or head does not change an earlier one's dropout") {
    Inputs two = random_inputs(2, 5, 3);
    Inputs one = two;
    for (Tensor* tensor : {&one.q, &one.k, &one.v}) {
        Tensor first({1, 1, 5, 3});
        std::ranges::copy(tensor->values().first(15), first.values().begin());
        *tensor = first;
    }
    AttentionSpec spec;
    spec.dropout = 0.4;
    spec.seed = 9;
    for (const Backend* backend : backends_keeping(Stage::weights)) {
        const Trace a = attend(two, spec, backend->name()).value();
        const Trace b = attend(one, spec, backend->name()).value();
        CHECK(largest_of(a[Stage::dropped]) > 0.1);
        for (Index i = 0; i < 5; ++i)
            CHECK(std::ranges::equal(a[Stage::dropped].matrix(0, 0).row(i),
                                     b[Stage::dropped].matrix(0, 0).row(i)));
    }
}

TEST_CASE("outside training dropout does nothing, forward and backward, by every backend") {
    AttentionSpec off;
    off.dropout = 0.5;
    off.seed = 3;
    off.training = false;
    AttentionSpec on = off;
    on.training = true;
    const Inputs inputs = random_inputs(2, 9, 4);
    for (const Backend* backend : backends()) {
        const auto [none, d_none] = both_passes(inputs, {}, backend->name());
        const auto [trace, d] = both_passes(inputs, off, backend->name());
        CHECK(trace[Stage::context] == none[Stage::context]);
        CHECK(trace[Stage::dropped].empty());
        CHECK(attend(inputs, on, backend->name()).value()[Stage::context] != none[Stage::context]);
        CHECK(d[Stage::q] == d_none[Stage::q]);
        CHECK(d[Stage::v] == d_none[Stage::v]);
    }
}

TEST_CASE("dropout keeps a share 1 - p of the pairs and divides them by 1 - p") {
    AttentionSpec spec;
    spec.dropout = 0.25;
    spec.seed = 3;
    const Trace trace = attend(random_inputs(4, 64, 4), spec).value();
    Index retained = 0;
    const auto weights = trace[Stage::weights].values();
    const auto dropped = trace[Stage::dropped].values();
    for (std::size_t n = 0; n < weights.size(); ++n) {
        if (dropped[n] == 0.0F) continue;
        ++retained;
        CHECK(dropped[n] == doctest::Approx(weights[n] / 0.75F).epsilon(1e-6));
    }
    const double pairs = 4 * 64 * 64;
    const double deviation = std::sqrt(pairs * 0.25 * 0.75);
    CHECK(std::abs(static_cast<double>(retained) - 0.75 * pairs) < 4.0 * deviation);
}
