#include "core/online_softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace attn;

namespace {

constexpr double kInf = HUGE_VAL;
const double kNaN = std::nan("");

/// Row mat of cat, sat, mat scaled: 1/√2, 1/√2, 2/√2, and their values.
struct Example {
    std::vector<double> scores{1.0 / std::sqrt(2.0), 1.0 / std::sqrt(2.0), std::sqrt(2.0)};
    std::vector<std::uint8_t> allowed{1, 1, 1};
    std::vector<double> v{1.0, 0.0, 0.0, 1.0, 1.0, 1.0};
    std::optional<double> sink;
    EmptyRows empty_rows = EmptyRows::zero;

    OnlineSoftmax in_chunks_of(Index chunk) const {
        const auto keys = static_cast<Index>(scores.size());
        return online_softmax({scores, allowed, {v.data(), keys, 2, 2}, sink, empty_rows}, chunk);
    }
};

}  // namespace

TEST_CASE("each chunk rescales what was kept by exp(m - m') and adds its own terms") {
    const OnlineSoftmax online = Example().in_chunks_of(2);
    REQUIRE(online.steps.size() == 2);
    CHECK(online.start == OnlineState{-kInf, 0.0, {0.0, 0.0}});
    const OnlineStep& first = online.steps[0];
    CHECK(first.rescale == 0.0);  // exp(−∞): nothing was there
    CHECK(first.terms == std::vector{1.0, 1.0});
    CHECK(first.after == OnlineState{1.0 / std::sqrt(2.0), 2.0, {1.0, 1.0}});
    const OnlineStep& last = online.steps[1];
    CHECK(last.first == 2);
    CHECK(last.last == 3);
    CHECK(last.rescale == doctest::Approx(0.493068691395).epsilon(1e-11));  // exp(−1/√2)
    CHECK(last.rescaled_sum == doctest::Approx(0.986137382790).epsilon(1e-11));
    CHECK(last.added_sum == 1.0);
    CHECK(last.added_output == std::vector{1.0, 1.0});
    CHECK(last.after.largest == std::sqrt(2.0));
    CHECK(last.after.sum == doctest::Approx(1.986137382790).epsilon(1e-11));
    CHECK(last.after.output[0] == doctest::Approx(1.493068691395).epsilon(1e-11));
    CHECK(online.result[0] == doctest::Approx(0.751744921742).epsilon(1e-11));
    CHECK(online.result[1] == doctest::Approx(0.751744921742).epsilon(1e-11));
}

TEST_CASE("a chunk without a larger score leaves alpha at 1") {
    Example row;
    row.scores = {3.0, 1.0, 2.0};
    const OnlineSoftmax online = row.in_chunks_of(1);
    CHECK(online.steps[1].rescale == 1.0);
    CHECK(online.steps[1].after.largest == 3.0);
    CHECK(online.steps[2].terms == std::vector{std::exp(-1.0)});
}

TEST_CASE("every size of chunk gives one row, but for rounding") {
    Example row;
    row.scores = {0.3, -7.0, 12.5};
    for (Index chunk = 1; chunk <= 4; ++chunk) {
        const OnlineSoftmax online = row.in_chunks_of(chunk);
        CHECK(std::ssize(online.steps) == (3 + chunk - 1) / chunk);
        CHECK(online.result[0] == doctest::Approx(0.999999996602).epsilon(1e-11));
        CHECK(online.result[1] == doctest::Approx(0.999994969570).epsilon(1e-11));
    }
}

TEST_CASE("masked keys add nothing, whatever they hold, and a masked chunk changes nothing") {
    Example row;
    row.scores = {kNaN, 0.5, kInf};
    row.allowed = {0, 1, 0};
    row.v = {kNaN, kInf, 2.0, 3.0, kNaN, 4.0};
    const OnlineSoftmax online = row.in_chunks_of(1);
    CHECK(online.steps[0].seen == 0);
    CHECK(online.steps[0].rescale == 1.0);
    CHECK(online.steps[0].after == online.start);
    CHECK(online.steps[1].after == OnlineState{0.5, 1.0, {2.0, 3.0}});
    CHECK(online.steps[2].rescale == 1.0);
    CHECK(online.steps[2].after == online.steps[1].after);
    CHECK(online.result == std::vector{2.0, 3.0});
}

TEST_CASE("an empty row follows the policy, a sink takes it whole") {
    Example row;
    row.allowed = {0, 0, 0};
    CHECK(row.in_chunks_of(2).result == std::vector{0.0, 0.0});
    row.empty_rows = EmptyRows::nan;
    CHECK(std::isnan(row.in_chunks_of(2).result[1]));
    row.empty_rows = EmptyRows::zero;
    row.sink = 3.0;
    CHECK(row.in_chunks_of(2).result == std::vector{0.0, 0.0});
    CHECK(row.in_chunks_of(2).steps[1].after.sum == 1.0);
}

TEST_CASE("a sink stands in m and l before the first chunk") {
    Example row;
    row.sink = 0.0;
    const OnlineSoftmax online = row.in_chunks_of(3);
    CHECK(online.start == OnlineState{0.0, 1.0, {0.0, 0.0}});
    CHECK(online.result[0] == doctest::Approx(0.669761549327).epsilon(1e-11));
}

TEST_CASE("NaN, infinity and rows of -inf make NaN as the ordinary softmax does") {
    for (const std::vector<double>& scores :
         {std::vector{kNaN, 1.0, 2.0}, {1.0, 2.0, kNaN}, {1.0, kInf, 2.0}, {-kInf, -kInf, -kInf}})
        for (Index chunk = 1; chunk <= 3; ++chunk) {
            Example row;
            row.scores = scores;
            CHECK(std::isnan(row.in_chunks_of(chunk).result[0]));
            CHECK(std::isnan(row.in_chunks_of(chunk).result[1]));
        }
    Example some;
    some.scores = {-kInf, 1.0, -kInf};
    CHECK(some.in_chunks_of(1).result == std::vector{0.0, 1.0});
}
