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

/// Settings of one demonstration.
struct SaturationSettings {
    SaturationModel model = SaturationModel::fixed_logits;
    std::vector<double> logits{0.5, 0.9, 0.0, 1.2, 0.6};  // fixed_logits; keys = how many
    Index keys = 16;                                      // sampled
    Index trials = 200;                                   // sampled
    std::uint64_t seed = 1;

    bool operator==(const SaturationSettings&) const = default;
};

/// One softmax row and everything the workspace shows of it.
struct SaturationRow {
    std::vector<double> scores;  // what softmax was given
    std::vector<double> weights;
    std::vector<double> jacobian;  // [n, n], with respect to `scores`
    RowMetrics metrics;
    double raw_factor = 1.0;  // ∂scores/∂raw: 1/√d_k scaled, 1 unscaled
};

/// The same raw scores with and without ÷√d_k. `trial` picks the draw of the sampled model.
struct SaturationPair {
    SaturationRow scaled;
    SaturationRow unscaled;
};
SaturationPair saturation_at(const SaturationSettings& settings, Index d_k, Index trial = 0);

/// 10 %, 50 % and 90 % quantiles over the trials.
struct Band {
    double low = 0.0;
    double median = 0.0;
    double high = 0.0;
};
/// One side (scaled or unscaled) of one d_k of the sweep.
struct SaturationSide {
    Band spread;
    Band max_probability;
    Band max_slope;
    Band jacobian;      // ‖J‖_F with respect to softmax's input
    Band jacobian_raw;  // ‖J‖_F with respect to the raw score: × 1/√d_k when scaled
};
struct SaturationPoint {
    Index d_k = 0;
    SaturationSide scaled;
    SaturationSide unscaled;
    double score_variance = 0.0;  // sample variance of q·k over all trials and keys
};

/// The curves: one point for each d_k, in the order given. Sampled: the draws of a smaller d_k are
/// the first d_k entries of the larger one's, so neighbouring points share their noise.
/// Cancelled: an error. d_k and keys must be >= 1 (sentence otherwise).
Result<std::vector<SaturationPoint>> saturation_sweep(const SaturationSettings& settings,
                                                      std::span<const Index> widths,
                                                      std::stop_token stop = {});

}  // namespace attn
