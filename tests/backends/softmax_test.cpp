#include "core/softmax.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/cast.h"
#include "tests/support/random.h"

using namespace attn;
using namespace attn::test;

TEST_CASE("weights are exp(m - max) over their sum, which the sides are") {
    for (const Index keys : {1, 2, 3, 4, 7, 8, 9, 31, 33, 1000})
        for (const double deviation : {0.1, 1.0, 10.0, 60.0}) {
            const Tensor scores = normal_tensor<float>({1, 1, 1, keys}, 4, deviation);
            const TensorD wide = cast<double>(scores);
            TensorD weights(scores.shape());
            const SoftmaxRow row = softmax_row(wide.values(), weights.values(), EmptyRows::zero);
            const SoftmaxRow sides = softmax_sides(scores.values());
            // In long double, without the maximum taken out: exp(600) fits.
            long double sum = 0.0L;
            for (const double score : wide.values())
                sum += std::exp(static_cast<long double>(score));
            for (Index j = 0; j < keys; ++j) {
                const long double exact =
                    std::exp(static_cast<long double>(wide(0, 0, 0, j))) / sum;
                CHECK(std::abs(weights(0, 0, 0, j) - exact) <= 1e-13L * exact + 1e-320L);
            }
            const auto logsumexp = static_cast<double>(std::log(sum));
            CHECK(row.max == *std::ranges::max_element(wide.values()));
            CHECK(row.logsumexp == doctest::Approx(logsumexp).epsilon(1e-13));
            CHECK(std::log(row.sum) == doctest::Approx(logsumexp - row.max).epsilon(1e-12));
            CHECK(sides.max == row.max);
            CHECK(sides.sum == doctest::Approx(row.sum).epsilon(1e-13));
            CHECK(sides.logsumexp == doctest::Approx(logsumexp).epsilon(1e-13));
        }
}

TEST_CASE("a row of -inf follows the policy; its sides are -inf, 0 and -inf") {
    const double inf = std::numeric_limits<double>::infinity();
    const std::vector<double> row{-inf, -inf, -inf};
    const std::vector<float> floats(row.begin(), row.end());
    std::vector<double> weights(3, 7.0);
    for (const SoftmaxRow& sides :
         {softmax_row(row, weights, EmptyRows::zero), softmax_sides(floats)}) {
        CHECK(sides.max == -inf);
        CHECK(sides.sum == 0.0);
        CHECK(sides.logsumexp == -inf);
    }
    CHECK(weights == std::vector<double>{0, 0, 0});
    softmax_row(row, weights, EmptyRows::nan);
    for (const double weight : weights) CHECK(std::isnan(weight));
}

TEST_CASE("NaN anywhere in a row, and +inf, make the whole row NaN") {
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (std::size_t where = 0; where < 11; ++where) {
            std::vector<double> row(11, 1.0);
            row[where] = bad;
            const std::vector<float> floats(row.begin(), row.end());
            std::vector<double> weights(11);
            softmax_row(row, weights, EmptyRows::zero);
            for (const double weight : weights) CHECK(std::isnan(weight));
            CHECK(std::isnan(softmax_sides(floats).logsumexp));
        }
}

TEST_CASE("softmax may be taken in place") {
    std::vector<double> row{1, 2, 3, 4, 5};
    std::vector<double> weights(5);
    softmax_row(row, weights, EmptyRows::zero);
    softmax_row(row, row, EmptyRows::zero);
    CHECK(row == weights);
}
