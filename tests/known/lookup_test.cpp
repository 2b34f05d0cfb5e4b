#include "core/lookup.h"
#include "core/metrics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include "tests/io/scratch.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// Keys (1, 0), (0, 2), (−1, 0) with values (1, 0), (0, 1), (−3, 0).
Memory three_pairs() { return {2, 2, {1, 0, 0, 2, -1, 0}, {1, 0, 0, 1, -3, 0}}; }

}  // namespace

TEST_CASE("a read is the softmax of q·k / τ over the values") {
    const auto read = must(read_memory(three_pairs(), std::vector<double>{1.0, 0.0}, 1.0));
    CHECK(read.scores == std::vector<double>{1.0, 0.0, -1.0});
    const double sum = std::exp(1.0) + 1.0 + std::exp(-1.0);
    CHECK(read.weights[0] == doctest::Approx(std::exp(1.0) / sum).epsilon(1e-14));
    CHECK(read.weights[2] == doctest::Approx(std::exp(-1.0) / sum).epsilon(1e-14));
    CHECK(read.output[0] ==
          doctest::Approx((std::exp(1.0) - 3.0 * std::exp(-1.0)) / sum).epsilon(1e-13));
    CHECK(read.output[1] == doctest::Approx(1.0 / sum).epsilon(1e-13));
    CHECK(read.contributions[2] == doctest::Approx(3.0 * read.weights[2]));
    CHECK(read.mean[0] == doctest::Approx(-2.0 / 3.0));
    CHECK(read.hard == std::vector<double>{1.0, 0.0});
    CHECK(read.to_hard == doctest::Approx(std::hypot(read.output[0] - 1.0, read.output[1])));
    CHECK(read.entropy > 0.0);
    CHECK(read.entropy < std::log(3.0));
}

TEST_CASE("τ → 0 is the hard lookup and τ → ∞ the mean of V") {
    const std::vector<double> query{1.0, 0.25};
    const auto cold = must(read_memory(three_pairs(), query, 0.01));
    const auto hot = must(read_memory(three_pairs(), query, 1e9));
    CHECK(cold.to_hard < 1e-15);
    CHECK(cold.entropy < 1e-15);
    CHECK(hot.to_mean < 1e-8);
    CHECK(hot.to_hard > 0.5);
    CHECK(hot.entropy == doctest::Approx(std::log(3.0)));
}

TEST_CASE("the largest dot product need not be the most similar key") {
    // q·k: 1.8 at cosine 0.99…, 4.5 at cosine 0.76…
    const Memory memory{2, 1, {1.2, 0.0, 3.0, 2.5}, {1, 2}};
    const auto read = must(read_memory(memory, std::vector<double>{1.5, 0.0}, 1.0));
    CHECK(read.best == std::vector<Index>{1});
    CHECK(read.most_similar == std::vector<Index>{0});
    CHECK(read.cosines[0] == doctest::Approx(1.0));
    CHECK(read.cosines[1] == doctest::Approx(3.0 / std::hypot(3.0, 2.5)));
}

TEST_CASE("on a tie the hard answer is the mean of the tied; a query of length 0 has no cosine") {
    const Memory memory{2, 1, {1, 1, 1, -1, -5, 0}, {2, 4, 100}};
    const auto tie = must(read_memory(memory, std::vector<double>{1.0, 0.0}, 0.01));
    CHECK(tie.best == std::vector<Index>{0, 1});
    CHECK(tie.hard == std::vector<double>{3.0});
    CHECK(tie.to_hard < 1e-12);
    const auto nothing = must(read_memory(memory, std::vector<double>{0.0, 0.0}, 1.0));
    CHECK(nothing.most_similar.empty());
    CHECK(std::isnan(nothing.cosines[0]));
    CHECK(nothing.best.size() == 3);
    CHECK(nothing.to_mean < 1e-12);
}

TEST_CASE("the largest numbers: all that differ by rounding alone, NaN passed over") {
    using Places = std::vector<Index>;
    const double nan = std::nan("");
    const double inf = std::numeric_limits<double>::infinity();
    const std::pair<std::vector<double>, Places> rows[] = {
        {{1, 3, 2}, {1}},       {{3, 3, nan}, {0, 1}}, {{1e9, 1e9 - 1e-4, 1e9 - 1}, {0, 1}},
        {{0, 0, 0}, {0, 1, 2}}, {{-1, -2}, {0}},       {{inf, 5, inf}, {0, 2}},
        {{-inf, -inf}, {0, 1}}, {{nan}, {}},           {{}, {}}};
    for (const auto& [values, places] : rows)
        CHECK(largest_places(std::span<const double>(values), 1e-12) == places);
}

TEST_CASE("a memory that cannot be read names why") {
    const std::vector<double> query{1.0, 0.0};
    CHECK(read_memory({2, 2, {}, {}}, query, 1.0).error().text() == "the memory has no pair");
    CHECK(read_memory(three_pairs(), std::vector<double>{1.0}, 1.0).error().text() ==
          "the query has 1 number and each key 2");
    CHECK(contains(read_memory(three_pairs(), query, 0.0).error().text(), "temperature is 0"));
    Memory broken = three_pairs();
    broken.keys[0] = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(read_memory(broken, query, 1.0));
    broken = three_pairs();
    broken.values.pop_back();
    CHECK_FALSE(read_memory(broken, query, 1.0));
}

TEST_CASE("the hull has the outer points alone, counter-clockwise") {
    const std::vector<PlanePoint> square{{0, 0}, {2, 0}, {1, 1}, {2, 2}, {0, 2}, {1, 0}};
    CHECK(convex_hull(square) == std::vector<Index>{0, 1, 3, 4});
    const std::vector<PlanePoint> line{{1, 1}, {0, 0}, {2, 2}};
    CHECK(convex_hull(line) == std::vector<Index>{1, 2});
    const std::vector<PlanePoint> same{{1, 1}, {1, 1}};
    CHECK(convex_hull(same) == std::vector<Index>{0});
    CHECK(convex_hull(std::vector<PlanePoint>{}).empty());
}

TEST_CASE("random keys have length 1, the same for every draw, and mean square cosine 1/d_k") {
    const CapacitySettings settings{64, 0.1, 4, 7};
    const Memory memory = random_memory(settings, 8, 2);
    CHECK(memory.size() == 64);
    double square = 0.0;
    for (const double each : memory.key(5)) square += each * each;
    CHECK(square == doctest::Approx(1.0));
    CHECK(random_memory(settings, 8, 2).keys == memory.keys);
    CHECK(random_memory(settings, 8, 3).keys != memory.keys);
    const auto point = must(capacity_at(settings, 8));
    CHECK(point.mean_square == doctest::Approx(1.0 / 8.0).epsilon(0.05));
}

TEST_CASE("interference is what other pairs take, by hand for two keys, and falls with d_k") {
    const CapacitySettings two{2, 0.5, 1, 3};
    const Memory memory = random_memory(two, 4, 0);
    double cosine = 0.0;
    for (std::size_t c = 0; c < 4; ++c) cosine += memory.key(0)[c] * memory.key(1)[c];
    const auto point = must(capacity_at(two, 4));
    CHECK(point.near_cosine.median == doctest::Approx(cosine));
    const double other = 1.0 / (1.0 + std::exp((1.0 - cosine) / 0.5));
    CHECK(point.interference.median == doctest::Approx(other));
    CHECK(point.worst.median == doctest::Approx(other));
    double apart = 0.0;
    for (std::size_t c = 0; c < kCapacityValueWidth; ++c)
        apart += std::pow(memory.value(0)[c] - memory.value(1)[c], 2.0);
    CHECK(point.error.median == doctest::Approx(other * std::sqrt(apart)));

    const std::vector<Index> widths{2, 8, 32, 128};
    const auto points = capacity_sweep({32, 0.1, 5, 1}, widths);
    REQUIRE(points.size() == 4);
    for (std::size_t n = 1; n < points.size(); ++n) {
        CHECK(points[n].interference.median < points[n - 1].interference.median);
        CHECK(points[n].near_cosine.median < points[n - 1].near_cosine.median);
        CHECK(points[n].interference.low <= points[n].interference.high);
    }
    CHECK(points.front().interference.median > 0.5);
    CHECK(points.back().interference.median < 0.01);
}

TEST_CASE("a sweep that is stopped gives what was done") {
    const std::vector<Index> widths{2, 4};
    CHECK(capacity_sweep({}, widths, stopped()).empty());
}
