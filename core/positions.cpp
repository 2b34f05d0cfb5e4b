#include "core/positions.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/rng.h"
#include "core/scores/operands.h"
#include "core/scores/score.h"

namespace attn {
namespace {

double inner_product(std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += a[c] * b[c];
    return sum;
}

/// A row for each position that a pair may stand at.
TensorD rows_of(const PositionSettings& settings,
                const std::function<double(Index p, Index c)>& entry) {
    TensorD rows({1, 1, kPositionQueries + settings.farthest, settings.d_k});
    for (Index p = 0; p < rows.shape().t; ++p)
        for (Index c = 0; c < settings.d_k; ++c) rows(0, 0, p, c) = entry(p, c);
    return rows;
}

std::vector<double> content_of(const PositionSettings& settings) {
    std::vector<double> x;
    for (Index c = 0; c < settings.d_k; ++c)
        x.push_back(normal(settings.seed, static_cast<std::uint64_t>(c)));
    const double factor = std::sqrt(static_cast<double>(settings.d_k) / inner_product(x, x));
    for (double& each : x) each *= factor;
    return x;
}

/// Mean over the queries of a · b / √d_k, where a stands at the query and b Δ further.
std::vector<double> means(const TensorD& rows, Index farthest,
                          const std::function<void(Index distance, double score)>& each) {
    const auto matrix = rows.matrix(0, 0);
    const double scale = 1.0 / std::sqrt(static_cast<double>(rows.shape().d));
    std::vector<double> mean;
    for (Index distance = 0; distance <= farthest; ++distance) {
        double sum = 0.0;
        for (Index i = 0; i < kPositionQueries; ++i) {
            const double score = inner_product(matrix.row(i), matrix.row(i + distance)) * scale;
            each(distance, score);
            sum += score;
        }
        mean.push_back(sum / static_cast<double>(kPositionQueries));
    }
    return mean;
}

DistanceScores scores_of(const TensorD& rows, Index farthest) {
    DistanceScores scores;
    scores.mean = means(rows, farthest, [&](Index distance, double score) {
        if (std::ssize(scores.low) == distance) {
            scores.low.push_back(score);
            scores.high.push_back(score);
        }
        scores.low.back() = std::min(scores.low.back(), score);
        scores.high.back() = std::max(scores.high.back(), score);
    });
    return scores;
}

DistanceScores added(const PositionSettings& settings, const std::vector<double>& x,
                     const TensorD& vectors) {
    const TensorD sums =
        rows_of(settings, [&](Index p, Index c) { return x[c] + vectors(0, 0, p, c); });
    DistanceScores scores = scores_of(sums, settings.farthest);
    scores.vectors = means(vectors, settings.farthest, [](Index, double) {});
    return scores;
}

DistanceScores biased(const PositionSettings& settings, double content) {
    DistanceScores scores;
    double least = alibi_slope(0, settings.heads);
    double most = least;
    for (Index h = 1; h < settings.heads; ++h) {
        least = std::min(least, alibi_slope(h, settings.heads));
        most = std::max(most, alibi_slope(h, settings.heads));
    }
    for (Index distance = 0; distance <= settings.farthest; ++distance) {
        const auto steps = static_cast<double>(distance);
        scores.mean.push_back(content - alibi_slope(settings.head, settings.heads) * steps);
        scores.low.push_back(content - most * steps);
        scores.high.push_back(content - least * steps);
    }
    return scores;
}

}  // namespace

Rope rope_of(const PositionSettings& settings) {
    Rope rope;
    rope.base = settings.base;
    return rope;
}

PositionScores position_scores(const PositionSettings& settings) {
    PositionScores scores;
    scores.of = settings;
    scores.x = content_of(settings);
    scores.content = std::sqrt(static_cast<double>(settings.d_k));
    const TensorD waves = rows_of(
        settings, [&](Index p, Index c) { return sinusoid(p, c, settings.d_k, settings.base); });
    const TensorD drawn = rows_of(settings, [&](Index p, Index c) {
        const Index n = (p + 1) * settings.d_k + c;  // after those of x
        return std::sqrt(0.5) * normal(settings.seed, static_cast<std::uint64_t>(n));
    });
    const TensorD still = rows_of(settings, [&](Index, Index c) { return scores.x[c]; });
    const TensorD turned = rotate(rope_of(settings), still, 0);
    scores.kinds = {added(settings, scores.x, waves), added(settings, scores.x, drawn),
                    scores_of(turned, settings.farthest), biased(settings, scores.content)};
    return scores;
}

double sinusoid(Index position, Index column, Index width, double base) {
    const double power = static_cast<double>(column / 2 * 2) / static_cast<double>(width);
    const double angle = static_cast<double>(position) / std::pow(base, power);
    return column % 2 == 0 ? std::sin(angle) : std::cos(angle);
}

}  // namespace attn
