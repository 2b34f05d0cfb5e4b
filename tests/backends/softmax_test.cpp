#include "core/softmax.h"

#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/random.h"
#include "tests/support/tolerance.h"

using namespace attn;
using namespace attn::test;

TEST_CASE("softmax of floats agrees with softmax of doubles, and so do its sides") {
    for (const Index keys : {1, 2, 3, 4, 7, 8, 9, 31, 33, 1000})
        for (const double deviation : {0.1, 1.0, 10.0, 60.0}) {
            const Tensor scores = normal_tensor<float>({1, 1, 1, keys}, 4, deviation);
            const TensorD wide = cast<double>(scores);
            Tensor weights(scores.shape());
            TensorD exact(scores.shape());
            const SoftmaxRow row = softmax_row(scores.values(), weights.values(), EmptyRows::zero);
            const SoftmaxRow expected = softmax_row(wide.values(), exact.values(), EmptyRows::zero);
            const SoftmaxRow sides = softmax_sides(scores.values());
            // The difference s − m is rounded (|s − m| <= 10 deviation here), then exp, sum and quotient.
            const double relative = kFloatRoundoff * (10.0 * deviation + 6.0 +
                                                      2.0 * std::sqrt(static_cast<double>(keys)));
            CHECK(tensor_mismatch(weights, exact, {std::numeric_limits<float>::min(), relative},
                                  "seed 4") == "");
            CHECK(row.max == expected.max);
            CHECK(row.sum == doctest::Approx(expected.sum).epsilon(relative));
            CHECK(sides.max == expected.max);
            CHECK(sides.sum == doctest::Approx(expected.sum).epsilon(relative));
            CHECK(sides.logsumexp == doctest::Approx(expected.logsumexp).epsilon(relative));
        }
}

TEST_CASE("a row of -inf follows the policy; its sides are -inf, 0 and -inf") {
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> row{-inf, -inf, -inf};
    std::vector<float> weights(3, 7.0F);
    const SoftmaxRow sides = softmax_row(row, weights, EmptyRows::zero);
    CHECK(weights == std::vector<float>{0, 0, 0});
    CHECK(sides.max == -inf);
    CHECK(sides.sum == 0.0);
    CHECK(sides.logsumexp == -inf);
    CHECK(softmax_sides(row).sum == 0.0);
    softmax_row(row, weights, EmptyRows::nan);
    for (const float weight : weights) CHECK(std::isnan(weight));
}

TEST_CASE("NaN anywhere in a row, and +inf, make the whole row NaN") {
    for (const float bad : {std::nanf(""), std::numeric_limits<float>::infinity()})
        for (std::size_t where = 0; where < 11; ++where) {
            std::vector<float> row(11, 1.0F);
            row[where] = bad;
            std::vector<float> weights(11);
            softmax_row(row, weights, EmptyRows::zero);
            for (const float weight : weights) CHECK(std::isnan(weight));
            CHECK(std::isnan(softmax_sides(row).logsumexp));
        }
}

TEST_CASE("softmax may be taken in place") {
    std::vector<float> row{1, 2, 3, 4, 5};
    std::vector<float> weights(5);
    softmax_row(row, weights, EmptyRows::zero);
    softmax_row(row, row, EmptyRows::zero);
    CHECK(row == weights);
}
