#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "tests/support/inputs.h"

namespace attn::test {

inline constexpr float kInf = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

inline bool all_nan(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isnan(value); });
}

using Traced = std::function<Trace(const Inputs&, const AttentionSpec&)>;

/// What is not finite at an allowed pair makes its row NaN and no other row.
inline void check_spoilt_rows(const Traced& traced, bool keeps_weights,
                              const std::vector<float>& spoiling) {
    for (const float bad : spoiling) {
        CAPTURE(bad);
        const Trace by_query = traced(column_inputs({bad, 1}, {1, 2, 3}, {1, 2, 3}), {});
        REQUIRE(by_query[Stage::weights].empty() == !keeps_weights);
        if (keeps_weights) CHECK(all_nan(by_query[Stage::weights].matrix(0, 0).row(0)));
        CHECK(std::isnan(by_query[Stage::context](0, 0, 0, 0)));
        CHECK(by_query[Stage::context](0, 0, 1, 0) == doctest::Approx(2.5752).epsilon(1e-4));
        const Trace by_key = traced(column_inputs({1}, {1, bad, 3, 0, 0}, {1, 2, 3, 4, 5}), {});
        CHECK(std::isnan(by_key[Stage::context](0, 0, 0, 0)));
    }
}

/// How NaN, inf and far scores are treated by whoever computes, in the stages that it keeps: all, or the context alone.
inline void check_edges(const Traced& traced, bool keeps_weights,
                        const std::vector<float>& spoiling = {kNan, kInf}) {
    check_spoilt_rows(traced, keeps_weights, spoiling);
    // an allowed score of -inf, and one far below, weigh exactly 0 beside finite ones
    const Trace far = traced(column_inputs({1}, {-kInf, 2000, 0}, {7, 1, 9}), {});
    CHECK(far[Stage::context](0, 0, 0, 0) == 1.0F);
    // allowed scores that are all -inf are 0/0, not an empty row, which the second one is
    const Trace none = traced(column_inputs({1, 2}, {-kInf, -kInf, 5}, {1, 2, 3}),
                              masked_by(2, 3, {1, 1, 0, 0, 0, 0}));
    CHECK(std::isnan(none[Stage::context](0, 0, 0, 0)));
    CHECK(none[Stage::context](0, 0, 1, 0) == 0.0F);
    // a forbidden key contributes nothing even when its K and V are NaN
    const Trace forbidden = traced(column_inputs({1, 1}, {0, 0, kNan}, {1, 3, kNan}),
                                   masked_by(2, 3, {1, 1, 0, 1, 1, 0}));
    CHECK(forbidden[Stage::context](0, 0, 0, 0) == 2.0F);
    // a 0 weight times an infinite value that is allowed is NaN
    const Trace infinite = traced(column_inputs({1}, {0, 2000}, {kInf, 1}), {});
    CHECK(std::isnan(infinite[Stage::context](0, 0, 0, 0)));
    REQUIRE(far[Stage::weights].empty() == !keeps_weights);
    if (!keeps_weights) return;
    for (const Index j : {0, 2}) CHECK(far[Stage::weights](0, 0, 0, j) == 0.0F);
    for (const Index j : {0, 1}) CHECK(std::isnan(none[Stage::weights](0, 0, 0, j)));
    CHECK(none[Stage::weights](0, 0, 0, 2) == 0.0F);
    CHECK(std::isnan(forbidden[Stage::scores](0, 0, 0, 2)));
    CHECK(forbidden[Stage::masked](0, 0, 0, 2) == -kInf);
    CHECK(forbidden[Stage::weights](0, 0, 0, 2) == 0.0F);
    CHECK(infinite[Stage::weights](0, 0, 0, 0) == 0.0F);
}

}  // namespace attn::test
