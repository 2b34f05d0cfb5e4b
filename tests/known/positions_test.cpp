#include "core/positions.h"

#include <doctest/doctest.h>

#include <cmath>

#include "core/scores/operands.h"
#include "core/scores/score.h"

using namespace attn;

namespace {

constexpr double kRounding = 1e-12;  // of sums of d_k products near √d_k

const PositionSettings kSettings[] = {{},
                                      {.d_k = 2, .seed = 7},
                                      {.d_k = 32, .base = 1.0},
                                      {.heads = 1},
                                      {.heads = 12, .head = 11},
                                      {.d_k = 256, .farthest = 512},
                                      {.farthest = 1}};

double widest(const DistanceScores& scores) {
    double most = 0.0;
    for (std::size_t n = 0; n < scores.mean.size(); ++n)
        most = std::max(most, scores.high[n] - scores.low[n]);
    return most;
}

/// Σ weight(c) cos(θ_c Δ) / √d_k over the pairs c.
double cosines(const PositionSettings& settings, Index distance, const auto& weight) {
    double sum = 0.0;
    for (Index c = 0; c < settings.d_k / 2; ++c)
        sum += weight(c) * std::cos(static_cast<double>(distance) *
                                    rope_frequency(rope_of(settings), c, settings.d_k));
    return sum / std::sqrt(static_cast<double>(settings.d_k));
}

}  // namespace

TEST_CASE("RoPE's score is the sum of ‖x_c‖² cos(θ_c Δ) over its pairs, the same for every query") {
    for (const PositionSettings& settings : kSettings) {
        const PositionScores scores = position_scores(settings);
        const DistanceScores& rotary = scores[PositionKind::rotary];
        CHECK(widest(rotary) <= kRounding * scores.content);
        const auto squared = [&](Index c) {
            const double a = scores.x[c];
            const double b = scores.x[c + settings.d_k / 2];
            return a * a + b * b;
        };
        for (Index distance = 0; distance <= settings.farthest; ++distance)
            CHECK(std::abs(rotary.mean[distance] - cosines(settings, distance, squared)) <=
                  kRounding * scores.content);
    }
}

TEST_CASE("sinusoidal vectors give cosines of the distance; with content it differs by query") {
    for (const PositionSettings& settings : kSettings) {
        const PositionScores scores = position_scores(settings);
        const DistanceScores& waves = scores[PositionKind::sinusoidal];
        for (Index distance = 0; distance <= settings.farthest; ++distance)
            CHECK(std::abs(waves.vectors[distance] - cosines(settings, distance, [](Index) {
                               return 1.0;
                           })) <= kRounding * scores.content);
        CHECK(widest(waves) > 0.01 * scores.content);
    }
}

TEST_CASE("ALiBi takes the slope of the head for each step; learned vectors know no distance") {
    for (const PositionSettings& settings : kSettings) {
        const PositionScores scores = position_scores(settings);
        CHECK(scores.content == doctest::Approx(std::sqrt(static_cast<double>(settings.d_k))));
        const DistanceScores& alibi = scores[PositionKind::alibi];
        const auto far = static_cast<std::size_t>(settings.farthest);
        const double slope = alibi_slope(settings.head, settings.heads);
        CHECK(alibi.mean[far] == scores.content - slope * static_cast<double>(far));
        CHECK(alibi.low[far] <= alibi.mean[far]);
        CHECK(alibi.high[far] >= alibi.mean[far]);
        CHECK((alibi.low[far] == alibi.high[far]) == (settings.heads == 1));
        CHECK(alibi.vectors.empty());
        CHECK(widest(scores[PositionKind::learned]) > 0.1 * scores.content);
    }
}

TEST_CASE("the same seed gives the same scores") {
    const PositionScores a = position_scores({.seed = 3});
    CHECK(a.x == position_scores({.seed = 3}).x);
    CHECK(a[PositionKind::learned].mean ==
          position_scores({.seed = 3})[PositionKind::learned].mean);
    CHECK(a.x != position_scores({.seed = 4}).x);
}
