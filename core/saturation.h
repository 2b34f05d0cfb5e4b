#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "core/metrics.h"
#include "core/result.h"

namespace attn {

/// Where the raw scores of the saturation demonstration come from.
/// fixed_logits: the same logits × √d_k for every d_k (deterministic; scaling undoes it exactly).
/// sampled: q·k_j with q, k_j ~ N(0, 1) per entry, so Var(q·k) = d_k.
enum class SaturationModel : std::uint8_t { fixed_logits, sampled };

/// Limits; the sentence of an error names them.
inline constexpr Index kMaxSaturationWidth = 1 << 20;
inline constexpr Index kMaxSaturationKeys = 4096;
inline constexpr Index kMaxSaturationTrials = 100'000;

/// Settings of one demonstration.
struct SaturationSettings {
    SaturationModel model = SaturationModel::fixed_logits;
    std::vector<double> logits{0.5, 0.9, 0.0, 1.2, 0.6};  // fixed_logits; keys = how many
    Index keys = 16;                                      // sampled
    Index trials = 200;                                   // sampled
    std::uint64_t seed = 1;

    bool operator==(const SaturationSettings&) const = default;
};

/// One softmax row with all measures that are shown.
struct SaturationRow {
    std::vector<double> scores;  // what softmax was given
    std::vector<double> weights;
    std::vector<double> jacobian;  // [n, n], with respect to `scores`
    RowMetrics metrics;
    double raw_factor = 1.0;  // ∂scores/∂raw: 1/√d_k scaled, 1 unscaled
};

/// The same raw scores z = q·k with and without ÷√d_k. `trial` picks the draw of the sampled model.
struct SaturationPair {
    SaturationRow scaled;
    SaturationRow unscaled;
};
SaturationPair saturation_at(const SaturationSettings& settings, Index d_k, Index trial = 0);

/// The raw scores z_j alone, before any scaling: logits_j √d_k, or q·k_j of the draw `trial` with
/// every product exact and summed in double. The same bits on every machine.
std::vector<double> raw_scores(const SaturationSettings& settings, Index d_k, Index trial = 0);

/// Σ(z_j − z̄)²/(n − 1); NaN for fewer than two values.
double sample_variance(std::span<const double> z);

/// 10 %, 50 % and 90 % quantiles over the trials, linear between order statistics (numpy's default).
struct Band {
    double low = 0.0;
    double median = 0.0;
    double high = 0.0;
    /// Where the median of endlessly many trials lies, with 95 % confidence: the order statistics
    /// n/2 ± 0.98 √n (normal approximation of the binomial; Conover 1999, §3.2). The median itself
    /// for one trial.
    double sure_low = 0.0;
    double sure_high = 0.0;
};
/// One side (scaled or unscaled) of one d_k of the sweep.
struct SaturationSide {
    Band evenness;  // normalised entropy H / ln n
    Band max_probability;
    Band max_slope;
    Band jacobian;      // ‖J‖_F with respect to softmax's input
    Band jacobian_raw;  // ‖J‖_F with respect to the raw score: × 1/√d_k when scaled
};
struct SaturationPoint {
    Index d_k = 0;
    SaturationSide scaled;
    SaturationSide unscaled;
    double score_variance = 0.0;  // sample_variance of z over all trials and keys
};

/// An error names a d_k, number of keys or trials outside its limits, a logit that is not finite, or an
/// empty list. Limits of unused settings are not checked.
Result<void> check_saturation(const SaturationSettings& settings, std::span<const Index> widths);

/// The curves: one point for each d_k, in the order given. Sampled: the draws of a smaller d_k are
/// the first d_k entries of the larger one's, so neighbouring points share their noise, and trial n
/// is what saturation_at() shows as trial n.
/// The fixed logits have one trial: their bands have no width.
/// Fails as check_saturation() does, and soon after `stop` is requested.
/// Speed: d_k 1, 2, 4, … 4096, 200 trials and 16 keys (14 million normals) in about 60 ms on one core
/// (tests/bench/saturation_bench.cpp).
Result<std::vector<SaturationPoint>> saturation_sweep(const SaturationSettings& settings,
                                                      std::span<const Index> widths,
                                                      std::stop_token stop = {});

}  // namespace attn
