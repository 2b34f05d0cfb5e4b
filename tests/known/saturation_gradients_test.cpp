// What ÷√d_k does to gradients: medians, means and dead rows, known from rows that were multiplied out, and such rows themselves.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/saturation_gradients.h"
#include "core/softmax.h"
#include "core/threads.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

/// 16 keys, 20,000 rows (4,000 from d_k = 128), float64: scaled, unscaled.
struct Known {
    Index d_k;
    double jacobian[2], z[2], z_mean[2], s[2], q[2], q_mean[2], dead[2], p_max[2];
    double loose;  // of the unscaled medians: what so few rows and the digits leave open
};
constexpr Known kKnown[] = {
    {4,
     {.294, .334},
     {.263, .267},
     {.281, .292},
     {.132, .267},
     {.234, .441},
     {.262, .518},
     {0, 0},
     {.20, .37},
     .02},
    {16,
     {.301, .332},
     {.268, .189},
     {.285, .236},
     {.067, .189},
     {.259, .708},
     {.280, .902},
     {0, .015},
     {.22, .69},
     .03},
    {64,
     {.303, .112},
     {.270, .059},
     {.286, .147},
     {.034, .059},
     {.267, .460},
     {.285, 1.165},
     {0, .15},
     {.22, .93},
     .06},
    {256,
     {.304, .0052},
     {.270, .0031},
     {.287, .081},
     {.017, .0031},
     {.269, .050},
     {.287, 1.286},
     {0, .44},
     {.23, 1.00},
     .35},
    {512,
     {.305, .0006},
     {.270, .0004},
     {.288, .061},
     {.012, .0004},
     {.270, .0080},
     {.288, 1.389},
     {0, .55},
     {.22, 1.00},
     .3},
    {1024,
     {.304, 1.7e-5},
     {.268, 7.7e-6},
     {.286, .044},
     {.008, 7.7e-6},
     {.268, 2.5e-4},
     {.286, 1.415},
     {0, .66},
     {.22, 1.00},
     .5},
};

bool near(double found, double known, double loose) {
    return std::abs(found - known) <= loose * known + 5e-4 * (known > 0.01);
}

}  // namespace

TEST_CASE("the table of four gradients comes out, whatever the seed") {
    std::vector<Index> widths;
    for (const Known& known : kKnown) widths.push_back(known.d_k);
    for (const std::uint64_t seed : {1u, 20u}) {
        const auto points = gradient_sweep({.seed = seed}, widths).value();
        for (std::size_t n = 0; n < widths.size(); ++n)
            for (const std::size_t side : {0u, 1u}) {
                const Known& known = kKnown[n];
                const GradientSide& found = side == 0 ? points[n].scaled : points[n].unscaled;
                const double loose = side == 0 ? 0.03 : known.loose;
                INFO("known.d_k ", known.d_k, ", seed ", seed, ", side ", side);
                CHECK(near(found.jacobian.median(), known.jacobian[side], loose));
                CHECK(near(found.z.median(), known.z[side], loose));
                CHECK(near(found.s.median(), known.s[side], std::max(loose, 0.06)));
                CHECK(near(found.q.median(), known.q[side], loose));
                CHECK(near(found.z.mean, known.z_mean[side], side == 0 ? .02 : .06));
                CHECK(near(found.q.mean, known.q_mean[side], side == 0 ? .02 : .08));
                CHECK(std::abs(found.z.dead - known.dead[side]) <= .02);
                CHECK(std::abs(found.p_max.median() - known.p_max[side]) <= .01);
            }
    }
}

TEST_CASE("rows drawn in law are spread as rows of q and k that are multiplied out") {
    constexpr std::size_t kRows = 6000, kKeys = 5;
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    for (const std::size_t d_k : {1u, 2u, 9u}) {
        std::vector<double> norms, p_max;
        for (std::size_t row = 0; row < kRows; ++row) {
            std::vector<double> q(d_k), k(d_k * kKeys), a(kKeys), upstream(kKeys), d_q(d_k);
            for (auto* values : {&q, &k, &upstream})
                for (double& value : *values) value = normal(random);
            for (std::size_t j = 0; j < kKeys; ++j)
                for (std::size_t c = 0; c < d_k; ++c) a[j] += q[c] * k[j * d_k + c];
            softmax_row(std::span<const double>(a), a, EmptyRows::zero);
            double mean = 0.0, squares = 0.0;
            for (std::size_t j = 0; j < kKeys; ++j) mean += a[j] * upstream[j];
            for (std::size_t j = 0; j < kKeys; ++j)
                for (std::size_t c = 0; c < d_k; ++c)
                    d_q[c] += a[j] * (upstream[j] - mean) * k[j * d_k + c];
            for (const double value : d_q) squares += value * value;
            norms.push_back(std::sqrt(squares));
            p_max.push_back(*std::ranges::max_element(a));
        }
        std::ranges::sort(norms);
        std::ranges::sort(p_max);
        const std::vector<Index> width{static_cast<Index>(d_k)};
        const GradientSide found = gradient_sweep({.keys = kKeys}, width).value().front().unscaled;
        // Kolmogorov and Smirnov: at every percentile the other's share is near it.
        const auto share = [](const std::vector<double>& sorted, double value) {
            return static_cast<double>(std::ranges::lower_bound(sorted, value) - sorted.begin()) /
                   static_cast<double>(sorted.size());
        };
        for (std::size_t n = 5; n < 100; n += 5) {
            INFO("d_k ", d_k, ", n ", n);
            const double wanted = static_cast<double>(n) / 100.0;
            CHECK(std::abs(share(norms, found.q.percentiles[n]) - wanted) < 0.025);
            CHECK(std::abs(share(p_max, found.p_max.percentiles[n]) - wanted) < 0.025);
        }
    }
}

TEST_CASE("the gradient of W_Q is the root of the sum of squares of a batch") {
    const std::vector<Index> width{16};
    const GradientPoint one = gradient_sweep({.rows = kGradientBatch}, width).value().front();
    CHECK(one.scaled.w_q.median() == one.scaled.w_q.mean);
    CHECK(one.scaled.w_q.median() >=
          8.0 * one.scaled.q.mean);  // √64, and no mean is above its root mean square
    CHECK(one.scaled.w_q.median() <= 8.0 * one.scaled.q.percentiles[100]);
    CHECK(one.scaled.s.median() == doctest::Approx(one.scaled.z.median() / 4.0));
    CHECK(one.unscaled.s.median() == one.unscaled.z.median());
}

TEST_CASE("one key passes nothing, d_k = 1 is the same on both sides, and threads do not matter") {
    const std::vector<Index> widths{1, 64};
    const auto alone = gradient_sweep({.keys = 1, .rows = 128}, widths).value();
    CHECK(alone[1].scaled.q.percentiles[100] == 0.0);
    CHECK(alone[1].unscaled.z.dead == 1.0);
    const auto many = gradient_sweep({.rows = 640}, widths).value();
    CHECK(many[0].scaled.q.percentiles == many[0].unscaled.q.percentiles);
    const ThreadLimit limit(1);
    CHECK(gradient_sweep({.rows = 640}, widths).value()[1].unscaled.q.percentiles ==
          many[1].unscaled.q.percentiles);
}

TEST_CASE("what gradients cannot be drawn of is named") {
    const auto fault = [](GradientSampling sampling, std::vector<Index> widths) {
        return sentence_in(gradient_sweep(sampling, widths));
    };
    CHECK(fault({}, {}) == "the list of d_k is empty; expected at least one width");
    CHECK(fault({}, {0}) == "d_k is 0; expected 1 to 1048576");
    CHECK(fault({.keys = 0}, {4}) == "the number of keys is 0; expected 1 to 4096");
    CHECK(fault({.rows = 100}, {4}) ==
          "the number of rows is 100; expected a multiple of 64, the rows of a batch");
    CHECK(fault({.rows = 0}, {4}) == "the number of rows is 0; expected 64 to 1048576");
}
