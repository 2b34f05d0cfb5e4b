#include "core/mask_conventions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace attn;

namespace {

using Values = std::vector<float>;
using Entries = std::vector<std::uint8_t>;

/// The weights of one row.
Values weights_of(const MaskConvention& convention, const Values& scores, const Entries& mask,
                  std::optional<float> sink = {}) {
    const auto keys = static_cast<Index>(scores.size());
    const auto result = apply_convention(convention, {{scores.data(), 1, keys, keys}, mask, sink});
    const auto row = result.weights.values();
    return {row.begin(), row.end()};
}

bool are(const Values& weights, const std::vector<double>& expected, double tolerance = 1e-6) {
    bool same = weights.size() == expected.size();
    for (std::size_t j = 0; j < weights.size() && same; ++j)
        same = std::isnan(expected[j]) ? std::isnan(weights[j])
                                       : std::abs(weights[j] - expected[j]) <= tolerance;
    return same;
}

MaskConvention filled(MaskFill fill, FillMode mode = FillMode::written) {
    return {.fill = fill, .mode = mode};
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr MaskFill kFinite[] = {MaskFill::minus_1e9, MaskFill::minus_1e5, MaskFill::lowest};

constexpr auto kAdded = FillMode::added;
const MaskConvention kHides{.reading = MaskReading::hide}, kAfter{.moment = MaskMoment::after},
    kRenormalised{.moment = MaskMoment::after_renormalised}, kZero{.empty = EmptyResult::zero},
    kUniform{.empty = EmptyResult::uniform}, kOnto{.reading = MaskReading::added},
    kHidesAfter{.reading = MaskReading::hide, .moment = MaskMoment::after};
constexpr double kExact = 0.0, kThird = 1.0 / 3.0;
const Values kFour{0, 1, 2, 3}, kLow{-1e38F, -1e38F}, kFar{0, 200};
const Entries kNone{0, 0, 0, 0};

using enum MaskFill;
const struct {
    const char* what;
    MaskConvention convention;
    Values scores;
    Entries mask;
    std::vector<double> weights;
    double tolerance = 1e-6;
} kRows[] = {
    {"equal scores, 1 shows", {}, {0, 0, 0}, {1, 1, 0}, {0.5, 0.5, 0.0}},
    {"1 hides", kHides, {0, 0, 0}, {1, 1, 0}, {0.0, 0.0, 1.0}},
    // e / (2e + 1) and 1 / (2e + 1)
    {"1 is added", kOnto, {0, 0, 0}, {1, 1, 0}, {0.4223188, 0.4223188, 0.1553624}},
    {"−∞", {}, {1, 2, 3}, {1, 0, 1}, {0.1192029, 0.0, 0.8807971}},  // 1 / (1 + e²)
    {"an empty row", {}, kFour, kNone, {kNan, kNan, kNan, kNan}},
    {"an empty row to be 0", kZero, kFour, kNone, {0, 0, 0, 0}, kExact},
    {"an empty row to be uniform", kUniform, kFour, kNone, {0.25, 0.25, 0.25, 0.25}, kExact},
    // an empty row under a fill that is added keeps what float32 keeps of the scores: −1e5 and −99999 are floats,
    // −1e9 + 1 is −1e9, lowest + 1 is lowest
    {"−1e5 added", filled(minus_1e5, kAdded), {0, 1}, {0, 0}, {0.2689414, 0.7310586}},
    {"−1e9 added", filled(minus_1e9, kAdded), {0, 1}, {0, 0}, {0.5, 0.5}, kExact},
    {"the lowest added", filled(lowest, kAdded), {0, 1}, {0, 0}, {0.5, 0.5}, kExact},
    {"−∞ added", filled(minus_infinity, kAdded), {0, 1}, {0, 0}, {kNan, kNan}},
    // a forbidden key wins where the allowed scores lie below the fill; 1.5e5 − 1e5 is above 0
    {"below −1e5", filled(minus_1e5), {-2e5F, 0}, {1, 0}, {0.0, 1.0}, kExact},
    {"above −1e9", filled(minus_1e9), {-2e5F, 0}, {1, 0}, {1.0, 0.0}, kExact},
    {"above −∞", {}, {-2e5F, 0}, {1, 0}, {1.0, 0.0}, kExact},
    {"large less 1e5", filled(minus_1e5, kAdded), {0, 1.5e5F}, {1, 0}, {0.0, 1.0}, kExact},
    // the lowest float plus a low score is −∞, and an empty row of those is NaN
    {"lowest and low", filled(lowest, kAdded), kLow, {0, 0}, {kNan, kNan}},
    {"lowest, written", filled(lowest), kLow, {0, 0}, {0.5, 0.5}, kExact},
    {"lowest beside low", filled(lowest, kAdded), kLow, {1, 0}, {1.0, 0.0}, kExact},
    // after softmax the row sum is short, renormalised it is what it was before
    {"after", kAfter, {0, 0, 0}, {1, 1, 0}, {kThird, kThird, 0.0}},
    {"renormalised", kRenormalised, {0, 0, 0}, {1, 1, 0}, {0.5, 0.5, 0.0}},
    {"after, 1 hides", kHidesAfter, {0, 0, 0}, {1, 1, 0}, {0.0, 0.0, kThird}},
    {"never", {.moment = MaskMoment::never}, {0, 0, 0}, {1, 1, 0}, {kThird, kThird, kThird}},
    // a score times 0 weighs e⁰
    {"times 0", filled(zero), {std::log(2.0F), 5.0F}, {1, 0}, {2.0 / 3.0, kThird}},
    // renormalising divides 0 by 0 where the allowed weights vanish in float32: exp(−200) is 0
    {"far below", {}, kFar, {1, 0}, {1.0, 0.0}, kExact},
    {"far below, after", kAfter, kFar, {1, 0}, {0.0, 0.0}, kExact},
    {"far below, renormalised", kRenormalised, kFar, {1, 0}, {kNan, kNan}},
    // a NaN at a forbidden pair goes where it is written over, not where it is added to
    {"NaN written over", {}, {0, std::nanf("")}, {1, 0}, {1.0, 0.0}, kExact},
    {"NaN added to", {.mode = kAdded}, {0, std::nanf("")}, {1, 0}, {kNan, kNan}},
    {"NaN after", kAfter, {0, std::nanf("")}, {1, 0}, {kNan, 0.0}},
};

}  // namespace

TEST_CASE("the weights of one row by each convention") {
    for (const auto& row : kRows) {
        CAPTURE(row.what);
        CHECK(are(weights_of(row.convention, row.scores, row.mask), row.weights, row.tolerance));
    }
}

TEST_CASE("a finite fill is −∞ while a key is allowed and scores are small; of none it is even") {
    for (const MaskFill fill : kFinite) {
        for (const FillMode mode : {FillMode::written, FillMode::added})
            CHECK(weights_of(filled(fill, mode), {1, 2, 3}, {1, 0, 1}) ==
                  weights_of({}, {1, 2, 3}, {1, 0, 1}));
        CHECK(are(weights_of(filled(fill), {0, 1, 2, 3}, {0, 0, 0, 0}), {0.25, 0.25, 0.25, 0.25},
                  0.0));
    }
}

TEST_CASE("a sink takes a share, and all of an empty row") {
    const Values scores{0, 0};
    CHECK(are(weights_of({}, scores, {1, 1}, 0.0F), {1.0 / 3.0, 1.0 / 3.0}));
    CHECK(are(weights_of({.empty = EmptyResult::uniform}, scores, {0, 0}, 0.0F), {0.0, 0.0}, 0.0));
}

TEST_CASE("rows are compared: where most, the sums, what forbidden keys get, NaN") {
    const Values scores{0, 0, 0, 0, 0, 0};
    const Entries mask{1, 1, 0, 0, 0, 0};
    const ConventionInput input{{scores.data(), 2, 3, 3}, mask, {}};
    const auto zero = apply_convention({.empty = EmptyResult::zero}, input);
    const auto filled_in = apply_convention(filled(MaskFill::minus_1e9), input);
    const auto rows = compare_rows(mask, zero.weights, filled_in.weights);
    REQUIRE(rows.size() == 2);
    CHECK_FALSE(rows[0].differs);
    CHECK_FALSE(rows[0].empty);
    CHECK(rows[0].sum[0] == doctest::Approx(1.0));
    CHECK(rows[1].differs);
    CHECK(rows[1].empty);
    CHECK(rows[1].key == 0);
    CHECK(rows[1].difference == doctest::Approx(1.0 / 3.0));
    CHECK(rows[1].forbidden[0] == 0.0);
    CHECK(rows[1].forbidden[1] == doctest::Approx(1.0));
    const auto nan = apply_convention({}, input);
    const auto against = compare_rows(mask, zero.weights, nan.weights);
    CHECK(against[1].differs);
    CHECK(std::isinf(against[1].difference));
    CHECK(against[1].has_nan[1]);
    CHECK_FALSE(against[1].has_nan[0]);
    CHECK_FALSE(compare_rows(mask, nan.weights, nan.weights)[1].differs);
}

TEST_CASE("the row's maximum and sum are those of the masked scores") {
    const Values scores{1, 2, 3};
    const Entries mask{1, 1, 0};
    const auto result = apply_convention({}, {{scores.data(), 1, 3, 3}, mask, {}});
    CHECK(result.max[0] == 2.0F);
    CHECK(result.sums[0] == doctest::Approx(1.0 + std::exp(-1.0)));
    CHECK(std::isinf(result.masked(0, 0, 0, 2)));
}
