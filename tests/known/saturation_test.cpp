#include "core/saturation.h"
#include "core/jacobian.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include "tests/support/results.h"

using namespace attn;

namespace {

std::vector<Index> doubling(Index last) {
    std::vector<Index> widths;
    for (Index d_k = 1; d_k <= last; d_k *= 2) widths.push_back(d_k);
    return widths;
}

SaturationSettings sampled(Index keys, Index trials) {
    return {.model = SaturationModel::sampled, .keys = keys, .trials = trials};
}

std::vector<SaturationPoint> sweep_of(const SaturationSettings& settings,
                                      std::vector<Index> widths) {
    return saturation_sweep(settings, widths).value();
}

/// `value` is `printed` to its last printed digit.
bool prints_as(double value, double printed, double last_digit) {
    return std::abs(value - printed) <= 0.5 * last_digit * (1.0 + 1e-9);
}

}  // namespace

TEST_CASE("five bars with scaling at d_k = 64 are 16.1, 24.0, 9.8, 32.4 and 17.8 %") {
    const SaturationRow row = saturation_at({}, 64).scaled;
    const std::vector<double> printed{16.1, 24.0, 9.8, 32.4, 17.8};
    REQUIRE(row.weights.size() == printed.size());
    for (std::size_t j = 0; j < printed.size(); ++j)
        CHECK(prints_as(100.0 * row.weights[j], printed[j], 0.1));
    CHECK(prints_as(row.metrics.max_slope, 0.2190, 1e-4));
    CHECK(prints_as(row.metrics.evenness, 0.9541, 1e-4));
    CHECK(prints_as(row.metrics.jacobian_frobenius, 0.4064, 1e-4));
    CHECK(prints_as(row.metrics.jacobian_spectral, 0.2863, 1e-4));
}

TEST_CASE("unscaled fixed logits: p_max (1 − p_max) rises before it dies") {
    const auto slope = [](Index d_k) { return saturation_at({}, d_k).unscaled.metrics.max_slope; };
    CHECK(prints_as(slope(1), 0.219, 1e-3));
    CHECK(prints_as(slope(4), 0.248, 1e-3));
    CHECK(prints_as(slope(8), 0.246, 1e-3));
    CHECK(prints_as(slope(16), 0.216, 1e-3));
    CHECK(prints_as(slope(64), 0.0845, 1e-4));
    CHECK(prints_as(slope(512), 0.0011, 1e-4));
}

TEST_CASE("unscaled fixed logits: 90.7 % at d_k = 64, near one-hot from 256") {
    const RowMetrics at_64 = saturation_at({}, 64).unscaled.metrics;
    CHECK(prints_as(at_64.max_probability, 0.907, 1e-3));
    CHECK(prints_as(at_64.evenness, 0.218, 1e-3));
    CHECK(prints_as(saturation_at({}, 256).unscaled.metrics.max_probability, 0.992, 1e-3));
}

TEST_CASE("with respect to the raw score, scaled is the smaller slope until d_k near 190") {
    const auto slopes = [](Index d_k) {
        const SaturationPair pair = saturation_at({}, d_k);
        return std::pair{pair.scaled.metrics.max_slope * pair.scaled.raw_factor,
                         pair.unscaled.metrics.max_slope * pair.unscaled.raw_factor};
    };
    CHECK(prints_as(slopes(64).first, 0.0274, 1e-4));
    CHECK(prints_as(slopes(64).second, 0.0845, 1e-4));
    CHECK(slopes(185).first < slopes(185).second);
    CHECK(slopes(195).first > slopes(195).second);
}

TEST_CASE("scaling undoes √d_k exactly for the fixed logits") {
    for (const Index d_k : {1, 3, 64, 1000, 4096})
        CHECK(saturation_at({}, d_k).scaled.weights == saturation_at({}, 1).scaled.weights);
}

TEST_CASE("sampled scores: variance d_k, σ = 22.6 and P(|q·k| > 30) = 18.5 % at d_k = 512") {
    // 4000 draws of 4 keys. Scores of one draw share q and are uncorrelated, not independent:
    // tolerances are 4 standard errors of 4000 independent draws.
    double squares = 0.0;
    double above = 0.0;
    const SaturationSettings settings = sampled(4, 4000);
    for (Index trial = 0; trial < settings.trials; ++trial)
        for (const double z : raw_scores(settings, 512, trial)) {
            squares += z * z;
            above += std::abs(z) > 30.0 ? 1.0 : 0.0;
        }
    const double count = 16000.0;
    CHECK(std::abs(squares / count / 512.0 - 1.0) < 4.0 * std::sqrt(2.0 / 4000.0));
    CHECK(std::abs(std::sqrt(squares / count) - 22.6) < 22.6 * 2.0 * std::sqrt(2.0 / 4000.0));
    CHECK(std::abs(above / count - 0.185) < 4.0 * std::sqrt(0.185 * 0.815 / 4000.0));
}

TEST_CASE("the sweep follows Var(q·k) = d_k") {
    // the q of each trial is shared by its keys: 4 standard errors of 200 independent values
    for (const auto& point : sweep_of(sampled(16, 200), doubling(4096)))
        CHECK(std::abs(point.score_variance / static_cast<double>(point.d_k) - 1.0) <
              4.0 * std::sqrt(2.0 / 200.0 + 6.0 / 200.0 / static_cast<double>(point.d_k)));
}

TEST_CASE("sampled: scaling keeps the evenness, its absence loses it") {
    const auto points = sweep_of(sampled(16, 200), doubling(4096));
    for (const SaturationPoint& point : points) CHECK(point.scaled.evenness.median > 0.8);
    for (std::size_t n = 1; n < points.size(); ++n)
        CHECK(points[n].unscaled.evenness.median < points[n - 1].unscaled.evenness.median);
    CHECK(points.back().unscaled.max_probability.median > 0.999);
    CHECK(points.back().unscaled.jacobian.median < 1e-3);
}

TEST_CASE("a sweep over one trial shows what saturation_at shows, whatever the other widths are") {
    const SaturationSettings settings = sampled(7, 1);
    const std::vector<Index> widths{100, 3, 64, 65, 1};
    const auto points = sweep_of(settings, widths);
    REQUIRE(points.size() == widths.size());
    for (std::size_t n = 0; n < widths.size(); ++n) {
        const SaturationPair pair = saturation_at(settings, widths[n]);
        CHECK(points[n].d_k == widths[n]);
        CHECK(points[n].scaled.evenness.median == pair.scaled.metrics.evenness);
        CHECK(points[n].scaled.jacobian_raw.high ==
              pair.scaled.metrics.jacobian_frobenius * pair.scaled.raw_factor);
        CHECK(points[n].unscaled.max_slope.low == pair.unscaled.metrics.max_slope);
        CHECK(points[n].score_variance == sample_variance(pair.unscaled.scores));
    }
}

TEST_CASE("the variance of raw scores is that of all trials and keys, divided by one less") {
    CHECK(sample_variance(std::vector<double>{1.0, 2.0, 4.0}) == doctest::Approx(7.0 / 3.0));
    const SaturationSettings settings = sampled(3, 2);
    double sum = 0.0, squares = 0.0;
    for (const Index trial : {0, 1})
        for (const double z : raw_scores(settings, 8, trial)) {
            sum += z;
            squares += z * z;
        }
    CHECK(sweep_of(settings, {8})[0].score_variance ==
          doctest::Approx((squares - sum * sum / 6.0) / 5.0));
}

TEST_CASE("a band of 11 trials: the second, middle and tenth in order; the median's in 95 %") {
    const SaturationSettings settings = sampled(6, 11);
    std::vector<double> largest;
    for (Index trial = 0; trial < 11; ++trial)
        largest.push_back(saturation_at(settings, 4, trial).unscaled.metrics.max_probability);
    std::ranges::sort(largest);
    const Band band = sweep_of(settings, {4})[0].unscaled.max_probability;
    CHECK(band.low == doctest::Approx(largest[1]).epsilon(1e-12));
    CHECK(band.median == doctest::Approx(largest[5]).epsilon(1e-12));
    CHECK(band.high == doctest::Approx(largest[9]).epsilon(1e-12));
    // 10 (0.5 ± 0.98 / √11) = 5 ± 2.95481
    const auto between = [&](std::size_t n, double part) {
        return doctest::Approx(largest[n] + part * (largest[n + 1] - largest[n])).epsilon(1e-5);
    };
    CHECK(band.sure_low == between(2, 0.04519));
    CHECK(band.sure_high == between(7, 0.95481));
    for (std::size_t n = 1; n < largest.size(); ++n) CHECK(largest[n - 1] < largest[n]);
}

TEST_CASE("bands are ordered, and have no width for the fixed logits") {
    for (const auto& point : sweep_of(sampled(5, 50), doubling(64))) {
        CHECK(point.unscaled.evenness.low <= point.unscaled.evenness.median);
        CHECK(point.unscaled.evenness.median <= point.unscaled.evenness.high);
    }
    for (const auto& point : sweep_of({}, doubling(64)))
        CHECK(point.unscaled.jacobian.low == point.unscaled.jacobian.high);
}

TEST_CASE("logits that overflow give NaN, never a plausible number") {
    SaturationSettings settings;
    settings.logits = {1e308, 0.0};
    const SaturationPair pair = saturation_at(settings, 4096);
    CHECK(std::isnan(pair.unscaled.weights[0]));
    CHECK(std::isnan(pair.unscaled.metrics.evenness));
    CHECK(pair.scaled.weights[0] == 1.0);
}

TEST_CASE("errors of a sweep name the thing, its value and the limits; stopped, it fails") {
    CHECK(must_fail(saturation_sweep(sampled(16, 200), doubling(4096), stopped())).kind ==
          ErrorKind::failure);
    const auto sentence = [](const SaturationSettings& settings, std::vector<Index> widths) {
        return sentence_in(saturation_sweep(settings, widths));
    };
    CHECK(sentence({}, {}) == "the list of d_k is empty; expected at least one width");
    CHECK(sentence({}, {4, 0}) == "d_k is 0; expected 1 to 1048576");
    CHECK(sentence(sampled(0, 9), {4}) == "the number of keys is 0; expected 1 to 4096");
    CHECK(sentence(sampled(9, -2), {4}) == "the number of trials is -2; expected 1 to 100000");
    SaturationSettings settings;
    settings.logits = {1.0, std::nan("")};
    CHECK(sentence(settings, {4}) == "logit 2 is nan; expected a finite number");
    settings.logits = {};
    CHECK(sentence(settings, {4}) == "there are 0 logits; expected 1 to 4096");
}

TEST_CASE("the interval of a median holds the median of many more trials about 95 times in 100") {
    const auto band = [&](Index trials, std::uint64_t seed) {
        SaturationSettings settings = sampled(4, trials);
        settings.seed = seed;
        return sweep_of(settings, {16}).front().unscaled.jacobian;
    };
    const double truth = band(20'000, 12345).median;
    int held = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        const Band sample = band(100, seed);
        CHECK(sample.sure_low <= sample.median);
        CHECK(sample.median <= sample.sure_high);
        held += sample.sure_low <= truth && truth <= sample.sure_high ? 1 : 0;
    }
    CHECK(held >= 88);
    CHECK(held <= 100);
    const Band alone = band(1, 1);
    CHECK(alone.sure_low == alone.median);
    CHECK(alone.sure_high == alone.median);
}

TEST_CASE("singular values of a softmax Jacobian, by hand for two keys") {
    // a = (½, ½): J = ¼ [[1, −1], [−1, 1]]; with slopes (f, 0) one column of it is left, of length f √2 / 4.
    const std::vector<double> even{0.5, 0.5};
    const auto both = jacobian_singular_values(even, std::vector<double>{1.0, 1.0});
    CHECK(both.front() == doctest::Approx(0.0));
    CHECK(both.back() == doctest::Approx(0.5));
    const auto one = jacobian_singular_values(even, std::vector<double>{3.0, 0.0});
    CHECK(one.front() == doctest::Approx(0.0));
    CHECK(one.back() == doctest::Approx(3.0 * std::sqrt(2.0) / 4.0));
    // beside a sink no direction is killed: a = (¼, ¼), J = 1/16 [[3, −1], [−1, 3]]
    const auto sink =
        jacobian_singular_values(std::vector<double>{0.25, 0.25}, std::vector<double>{-2.0, -2.0});
    CHECK(sink.front() == doctest::Approx(0.25));
    CHECK(sink.back() == doctest::Approx(0.5));
    CHECK(jacobian_singular_values({}, {}).empty());
}
