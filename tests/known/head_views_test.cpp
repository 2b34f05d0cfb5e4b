// What is looked at in place of weights, against numbers worked out by hand.
#include "core/head_views.h"
#include "core/head_measures.h"
#include "core/heads/matrix.h"
#include "core/spec.h"
#include "core/stages.h"
#include "core/tensor.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>
#include <string_view>

using namespace attn;

namespace {

constexpr float kNone = std::numeric_limits<float>::quiet_NaN();

MatrixView<const float> matrix(const std::vector<float>& values, Index rows, Index columns) {
    return {values.data(), rows, columns, columns};
}

}  // namespace

TEST_CASE("keys of a mean weight of at least the limit are heavy; without one there is no list") {
    const std::vector<double> means{0.5, 0.25, 0.125};
    CHECK(heavy_keys(means, 0.25) == ClippedKeys{1, 1, 0});
    CHECK(heavy_keys(means, 0.51) == ClippedKeys());
}

TEST_CASE("the table of what may be looked at: each row has its key, formula, caution and source") {
    std::set<std::string_view> keys;
    for (const HeadShowInfo& each : head_show_table()) {
        CHECK(&info(each.show) == &each);
        CHECK(find_head_show(each.key) == each.show);
        CHECK_FALSE(each.formula.empty());
        CHECK_FALSE(each.caution.empty());
        CHECK(each.source.find("arXiv:") != std::string_view::npos);
        keys.insert(each.key);
    }
    CHECK(keys.size() == kHeadShowCount);
    CHECK_FALSE(find_head_show("salience"));
}

TEST_CASE("α‖v‖: rows 3 4 and 0 2 have norms 5 and 2; a forbidden pair is 0 even beside NaN") {
    const std::vector<float> v{3, 4, 0, 2};
    const std::vector<double> norms = row_norms(matrix(v, 2, 2));
    CHECK(norms == std::vector<double>{5.0, 2.0});
    const std::vector<float> weights{1.0F, 0.0F, 0.25F, 0.75F};
    CHECK(times_norms(matrix(weights, 2, 2), norms, {}) ==
          std::vector<float>{5.0F, 0.0F, 1.25F, 1.5F});
    const std::vector<std::uint8_t> causal{1, 0, 1, 1};
    const std::vector<float> masked =
        times_norms(matrix(weights, 2, 2), std::vector<double>{5.0, std::nan("")}, causal);
    CHECK(masked[0] == 5.0F);
    CHECK(masked[1] == 0.0F);
    CHECK(std::isnan(masked[3]));
}

TEST_CASE("α‖vW_O‖: W_O may take away a long value whole") {
    const std::vector<float> v{3, 4, 0, 2};
    const std::vector<float> w{0, 0, 0, 1, 0, 0};  // [2,3]: only the second dimension, as the first
    const auto norms = row_norms(matrix(v, 2, 2), matrix(w, 2, 3));
    CHECK(norms == std::vector<double>{4.0, 2.0});
    const std::vector<float> nothing{1, 0, -1, 0};  // v of 1 1 would vanish
    const std::vector<float> same{1, 1};
    CHECK(row_norms(matrix(same, 1, 2), matrix(nothing, 2, 2)) == std::vector<double>{0.0});
}

TEST_CASE("α × gradient has the gradient's sign, and a forbidden pair has 0") {
    const std::vector<float> weights{0.5F, 0.5F, 1.0F, 0.0F};
    const std::vector<float> gradient{2.0F, -4.0F, 3.0F, kNone};
    const std::vector<std::uint8_t> allowed{1, 1, 1, 0};
    CHECK(times_gradient(matrix(weights, 2, 2), matrix(gradient, 2, 2), allowed) ==
          std::vector<float>{1.0F, -2.0F, 3.0F, 0.0F});
}

TEST_CASE("the mean over two heads") {
    Tensor weights(Shape{1, 2, 1, 2});
    weights(0, 0, 0, 0) = 1.0F;
    weights(0, 1, 0, 0) = 0.5F;
    weights(0, 1, 0, 1) = 0.5F;
    CHECK(mean_weights(weights, 0) == std::vector<double>{0.75, 0.25});
}

TEST_CASE("rollout: half attention, half the token itself, multiplied over layers") {
    // A = [1 0; 1 0]: Â = [1 0; .5 .5]; twice: [1 0; .75 .25].
    const std::vector<double> mean{1, 0, 1, 0};
    const auto one = rollout_after({}, mean, 2);
    CHECK(one == std::vector<double>{1.0, 0.0, 0.5, 0.5});
    CHECK(rollout_after(one, mean, 2) == std::vector<double>{1.0, 0.0, 0.75, 0.25});
    // The later layer stands left: a swap after it gives Â = [.5 .5; .5 .5] and so [.75 .25; .75 .25].
    CHECK(rollout_after(one, {0, 1, 1, 0}, 2) == std::vector<double>{0.75, 0.25, 0.75, 0.25});
}

TEST_CASE("rollout: rows that sum to less are over their sum, an empty row passes its token on") {
    // A row of .5 0: (.25 + .5) / .75; an empty row: ½ / ½.
    const auto rows = rollout_after({}, {0.5, 0.0, 0.0, 0.0}, 2);
    CHECK(rows == std::vector<double>{1.0, 0.0, 0.0, 1.0});
    const auto partly = rollout_after({}, {0.0, 0.5, 0.0, 0.0}, 2);
    CHECK(partly[0] == doctest::Approx(2.0 / 3).epsilon(1e-12));
    CHECK(partly[1] == doctest::Approx(1.0 / 3).epsilon(1e-12));
}

TEST_CASE("rollout: NaN stays in its row until a later layer looks there") {
    const double nan = std::nan("");
    const auto first = rollout_after({}, {1, 0, nan, nan}, 2);
    CHECK(first[0] == 1.0);
    CHECK(first[1] == 0.0);
    CHECK(std::isnan(first[2]));
    const auto aside = rollout_after(first, {1, 0, 1, 0}, 2);
    CHECK(aside[0] == 1.0);
    CHECK(std::isnan(aside[2]));
}

TEST_CASE("products by dimension add up to the score") {
    const std::vector<float> q{1, -2, 3};
    const std::vector<float> k{4, 5, 6, 0, 1, 0};
    CHECK(products_by_dimension(q, matrix(k, 2, 3)) == std::vector<float>{4, -10, 18, 0, -2, 0});
}

TEST_CASE("dimensions by frequency: pairs beside each other, the fastest first, fixed ones last") {
    // base 100, 4 turned of 5: ω = 1 and 100^(−2/4) = 0.1.
    const auto half = turned_dimensions(5, 4, {RopePairs::half, 100.0, {}});
    REQUIRE(half.size() == 5);
    const Index by_half[] = {0, 2, 1, 3, 4};
    const Index by_two[] = {0, 1, 2, 3, 4};
    const double frequencies[] = {1.0, 1.0, 0.1, 0.1, 0.0};
    const auto interleaved = turned_dimensions(5, 4, {RopePairs::interleaved, 100.0, {}});
    for (std::size_t n = 0; n < 5; ++n) {
        CHECK(half[n].dimension == by_half[n]);
        CHECK(interleaved[n].dimension == by_two[n]);
        CHECK(half[n].frequency == doctest::Approx(frequencies[n]).epsilon(1e-12));
    }
    CHECK(half[0].pair == 2);
    CHECK(half[4].pair == -1);
    CHECK(turned_dimensions(2, 0, Rope{})[1].dimension == 1);
}
