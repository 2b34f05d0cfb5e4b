#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/spec.h"

namespace attn {

// The effect of positions on the score of one pair. x content, p vector of a position, i query, j key, Δ = |j − i|; q = k = x.

/// How a query and a key get their positions. sinusoidal and learned: p_i and p_j are added to x. rotary: x is turned by
/// its position (Rope, spec.h). alibi: slope · Δ is taken from the score.
enum class PositionKind : std::uint8_t { sinusoidal, learned, rotary, alibi };
inline constexpr std::size_t kPositionKindCount = 4;

struct PositionSettings {
    Index d_k = 64;          // even
    double base = 10000.0;   // of the angles base^(−2c/d_k), ≥ 1
    Index heads = 8;         // of ALiBi
    Index head = 0;          // its slope: alibi_slope()
    Index farthest = 64;     // largest Δ
    std::uint64_t seed = 1;  // of x and of learned vectors
    bool operator==(const PositionSettings&) const = default;
};

/// Of the angles: RoPE's, and those of sinusoidal vectors.
Rope rope_of(const PositionSettings& settings);

/// Scores q · k / √d_k of one kind, an entry for each Δ = 0 … farthest.
struct DistanceScores {
    std::vector<double>
        mean;  // over the queries i = 0 … kPositionQueries − 1 with the key at i + Δ; of ALiBi the head's
    std::vector<double> low, high;  // least and most of them; of ALiBi over all heads
    std::vector<double>
        vectors;  // mean of p_i · p_j / √d_k, part of `mean`; empty where no vector is added
};
inline constexpr Index kPositionQueries = 32;

struct PositionScores {
    PositionSettings of;
    double content = 0.0;   // x · x / √d_k, the score without positions at every Δ: √d_k
    std::vector<double> x;  // normal numbers, ‖x‖² = d_k
    std::array<DistanceScores, kPositionKindCount> kinds;

    const DistanceScores& operator[](PositionKind kind) const {
        return kinds[static_cast<std::size_t>(kind)];
    }
};
/// Learned vectors are as before training: normal numbers of variance ½, so that they are as long as sinusoidal ones.
PositionScores position_scores(const PositionSettings& settings);

/// Entry `column` of a sinusoidal position: sin (even columns) or cos of position / base^(2c/width), columns 2c and 2c + 1.
/// Source: Vaswani et al. 2017, arXiv:1706.03762, 3.5.
double sinusoid(Index position, Index column, Index width, double base);

}  // namespace attn
