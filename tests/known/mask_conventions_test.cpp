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

MaskConvention filled(MaskFill fill, FillWay way = FillWay::written) {
    return {.fill = fill, .way = way};
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr MaskFill kFinite[] = {MaskFill::minus_1e9, MaskFill::minus_1e5, MaskFill::lowest};

}  // namespace

TEST_CASE("the three readings of one mask over equal scores") {
    const Values scores{0, 0, 0};
    const Entries mask{1, 1, 0};
    CHECK(are(weights_of({}, scores, mask), {0.5, 0.5, 0.0}));
    CHECK(are(weights_of({.reading = MaskReading::hide}, scores, mask), {0.0, 0.0, 1.0}));
    // e / (2e + 1) and 1 / (2e + 1)
    CHECK(are(weights_of({.reading = MaskReading::added}, scores, mask),
              {0.4223188, 0.4223188, 0.1553624}));
}

TEST_CASE("a finite fill is −∞ while one key is allowed and scores are small") {
    const Values scores{1, 2, 3};
    const Entries mask{1, 0, 1};
    const std::vector<double> expected{0.1192029, 0.0, 0.8807971};  // 1 / (1 + e²)
    CHECK(are(weights_of({}, scores, mask), expected));
    for (const MaskFill fill : kFinite)
        for (const FillWay way : {FillWay::written, FillWay::added})
            CHECK(weights_of(filled(fill, way), scores, mask) == weights_of({}, scores, mask));
}

TEST_CASE("an empty row: NaN, 0, uniform, and uniform under any finite fill that is written") {
    const Values scores{0, 1, 2, 3};
    const Entries none{0, 0, 0, 0};
    CHECK(are(weights_of({}, scores, none), {kNan, kNan, kNan, kNan}));
    CHECK(are(weights_of({.empty = EmptyResult::zero}, scores, none), {0, 0, 0, 0}, 0.0));
    CHECK(are(weights_of({.empty = EmptyResult::uniform}, scores, none), {0.25, 0.25, 0.25, 0.25},
              0.0));
    for (const MaskFill fill : kFinite)
        CHECK(are(weights_of(filled(fill), scores, none), {0.25, 0.25, 0.25, 0.25}, 0.0));
}

TEST_CASE("an empty row under a fill that is added keeps what float32 keeps of the scores") {
    const Values scores{0, 1};
    const Entries none{0, 0};
    // −1e5 and −99999 are floats, −1e9 + 1 is −1e9, lowest + 1 is lowest
    CHECK(are(weights_of(filled(MaskFill::minus_1e5, FillWay::added), scores, none),
              {0.2689414, 0.7310586}));
    CHECK(are(weights_of(filled(MaskFill::minus_1e9, FillWay::added), scores, none), {0.5, 0.5},
              0.0));
    CHECK(are(weights_of(filled(MaskFill::lowest, FillWay::added), scores, none), {0.5, 0.5}, 0.0));
    CHECK(are(weights_of(filled(MaskFill::minus_infinity, FillWay::added), scores, none),
              {kNan, kNan}));
}

TEST_CASE("a forbidden key wins where the allowed scores lie below the fill") {
    const Values scores{-2e5F, 0};
    const Entries mask{1, 0};
    CHECK(are(weights_of(filled(MaskFill::minus_1e5), scores, mask), {0.0, 1.0}, 0.0));
    CHECK(are(weights_of(filled(MaskFill::minus_1e9), scores, mask), {1.0, 0.0}, 0.0));
    CHECK(are(weights_of({}, scores, mask), {1.0, 0.0}, 0.0));
    const Values large{0, 1.5e5F};  // 1.5e5 − 1e5 is above 0
    CHECK(
        are(weights_of(filled(MaskFill::minus_1e5, FillWay::added), large, mask), {0.0, 1.0}, 0.0));
}

TEST_CASE("the lowest float plus a low score is −∞, and an empty row of those is NaN") {
    const Values scores{-1e38F, -1e38F};
    const auto added = filled(MaskFill::lowest, FillWay::added);
    CHECK(are(weights_of(added, scores, {0, 0}), {kNan, kNan}));
    CHECK(are(weights_of(filled(MaskFill::lowest), scores, {0, 0}), {0.5, 0.5}, 0.0));
    CHECK(are(weights_of(added, scores, {1, 0}), {1.0, 0.0}, 0.0));
}

TEST_CASE("after softmax the row sum is short, renormalised it is what it was before") {
    const Values scores{0, 0, 0};
    const Entries mask{1, 1, 0};
    CHECK(
        are(weights_of({.moment = MaskMoment::after}, scores, mask), {1.0 / 3.0, 1.0 / 3.0, 0.0}));
    CHECK(
        are(weights_of({.moment = MaskMoment::after_renormalised}, scores, mask), {0.5, 0.5, 0.0}));
    const MaskConvention hide{.reading = MaskReading::hide, .moment = MaskMoment::after};
    CHECK(are(weights_of(hide, scores, mask), {0.0, 0.0, 1.0 / 3.0}));
}

TEST_CASE("no mask is softmax of all, and a score times 0 weighs e⁰") {
    const Values scores{0, 0, 0};
    const Entries mask{1, 1, 0};
    CHECK(are(weights_of({.moment = MaskMoment::never}, scores, mask),
              {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0}));
    const Values ln2{std::log(2.0F), 5.0F};
    CHECK(are(weights_of(filled(MaskFill::zero), ln2, {1, 0}), {2.0 / 3.0, 1.0 / 3.0}));
}

TEST_CASE("renormalising divides 0 by 0 where the allowed weights vanish in float32") {
    const Values scores{0, 200};  // exp(−200) is 0
    const Entries mask{1, 0};
    CHECK(are(weights_of({}, scores, mask), {1.0, 0.0}, 0.0));
    CHECK(are(weights_of({.moment = MaskMoment::after}, scores, mask), {0.0, 0.0}, 0.0));
    CHECK(are(weights_of({.moment = MaskMoment::after_renormalised}, scores, mask), {kNan, kNan}));
}

TEST_CASE("a NaN at a forbidden pair goes where it is written over, not where it is added to") {
    const Values scores{0, std::nanf("")};
    const Entries mask{1, 0};
    CHECK(are(weights_of({}, scores, mask), {1.0, 0.0}, 0.0));
    CHECK(are(weights_of({.way = FillWay::added}, scores, mask), {kNan, kNan}));
    CHECK(are(weights_of({.moment = MaskMoment::after}, scores, mask), {kNan, 0.0}));
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
