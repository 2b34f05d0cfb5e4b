#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "core/tensor.h"
#include "core/verify/compare.h"
#include "tests/support/results.h"

using namespace attn;
using namespace attn::verify;

namespace {
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
}  // namespace

TEST_CASE("errors of two tensors: max, mean, relative, ulp, and where the worst one is") {
    const Tensor actual({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8.5F});
    const TensorD expected({1, 2, 2, 2}, {1, 2, 3.25, 4, 5, 6, 7, 8});
    const Comparison c = compare(actual, expected, {0.3, 0.0}).value();
    CHECK(c.all.count == 8);
    CHECK(c.all.max == 0.5);
    CHECK(c.all.mean == 0.75 / 8);
    CHECK(c.relative == 0.5 / 8);
    CHECK(c.all.beyond == 1);
    CHECK(c.all.worst.h == 1);
    CHECK(c.all.worst.t == 1);
    CHECK(c.all.worst.d == 1);
    CHECK(c.all.worst.actual == 8.5);
    CHECK(c.all.worst.expected == 8.0);
    CHECK(c.all.ulp == 1U << 20);  // between 2 and 4 they are 2⁻²² apart
    REQUIRE(c.heads.size() == 2);
    CHECK(c.heads[0].errors.max == 0.25);
    CHECK(c.heads[0].errors.beyond == 0);
    CHECK(c.heads[1].errors.beyond == 1);
    REQUIRE(c.rows.size() == 1);
    CHECK(c.rows[0].h == 1);
    CHECK(c.rows[0].t == 1);
}

TEST_CASE("a tolerance is absolute plus relative to what is expected") {
    const Tensor actual({1, 1, 1, 2}, {1.1F, 110});
    const TensorD expected({1, 1, 1, 2}, {1, 100});
    CHECK(total_errors(actual, expected, {0.0, 0.11}).beyond == 0);
    CHECK(total_errors(actual, expected, {0.11, 0.0}).beyond == 1);
    CHECK(total_errors(actual, expected, {0.0, 0.09}).beyond == 2);
}

TEST_CASE("NaN beside NaN is equal, NaN and infinity beside a number are counted and named") {
    const Tensor actual({1, 1, 2, 3}, {kNan, kNan, 2, kInf, kInf, -kInf});
    const TensorD expected({1, 1, 2, 3}, {kNan, 1, kNan, kInf, 3, kInf});
    const Comparison c = compare(actual, expected, {10.0, 0.0}).value();
    CHECK(c.all.nan.count == 2);
    CHECK(c.all.nan.first.d == 1);
    CHECK(std::isnan(c.all.nan.first.actual));
    CHECK(c.all.infinite.count == 2);
    CHECK(c.all.infinite.first.expected == 3.0);
    CHECK(c.all.beyond == 4);
    CHECK(c.all.max == 0.0);
    CHECK(c.rows.size() == 2);
}

TEST_CASE("ulp counts float32 numbers, across 0 too") {
    CHECK(ulp_distance(1.0F, 1.0F) == 0);
    CHECK(ulp_distance(0.0F, -0.0F) == 0);
    CHECK(ulp_distance(1.0F, std::nextafter(1.0F, 2.0F)) == 1);
    CHECK(ulp_distance(std::nextafter(0.0F, -1.0F), std::nextafter(0.0F, 1.0F)) == 2);
    CHECK(ulp_distance(1.0F, 2.0F) == 1U << 23);
}

TEST_CASE("shapes that differ are both named") {
    CHECK(must_fail(compare(Tensor({1, 2, 3, 4}), TensorD({1, 2, 4, 3}), {})).text() ==
          "shape [1, 2, 3, 4] and not [1, 2, 4, 3]");
}

TEST_CASE("of many rows the worst come first, and no more than are shown") {
    Tensor actual({1, 1, 20, 1});
    for (Index t = 0; t < 20; ++t) actual(0, 0, t, 0) = static_cast<float>(t % 7);
    const Comparison c = compare(actual, TensorD({1, 1, 20, 1}), {0.5, 0.0}).value();
    REQUIRE(c.rows.size() == kMostRows);
    CHECK(c.rows[0].t == 6);
    CHECK(c.rows[1].t == 13);
    CHECK(c.rows[2].t == 5);
    CHECK(c.all.beyond == 17);
}
