#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/metrics.h"
#include "core/saturation.h"
#include "core/saturation_draws.h"
#include "core/softmax.h"

// z raw scores (q·k_j, or logits √d_k), s softmax's input (z / √d_k scaled, z unscaled), a weights.

namespace attn {
namespace {

/// Mean and variance of values that come one at a time (Welford 1962).
struct TransientActions {
    double count = 0.0;
    double mean = 0.0;
    double squares = 0.0;  // Σ(z − z̄)²

    void add(double z) {
        const double off = z - mean;
        count += 1.0;
        mean += off / count;
        squares += off * (z - mean);
    }
    double variance() const {
        return count < 2.0 ? std::numeric_limits<double>::quiet_NaN() : squares / (count - 1.0);
    }
};

/// `of` picks one number of each trial's metrics.
template <class Of>
Band band_of(const std::vector<RowMetrics>& trials, Of of) {
    std::vector<double> values;
    for (const RowMetrics& metrics : trials) values.push_back(of(metrics));
    const double reach = 0.98 / std::sqrt(static_cast<double>(values.size()));
    return {quantile(values, 0.1), quantile(values, 0.5), quantile(values, 0.9),
            quantile(values, std::max(0.5 - reach, 0.0)),
            quantile(values, std::min(0.5 + reach, 1.0))};
}

Band times(const Band& band, double factor) {
    return {band.low * factor, band.median * factor, band.high * factor, band.sure_low * factor,
            band.sure_high * factor};
}

SaturationSide side_of(const std::vector<RowMetrics>& trials, double raw_factor) {
    SaturationSide side;
    side.evenness = band_of(trials, [](const RowMetrics& m) { return m.evenness; });
    side.max_probability = band_of(trials, [](const RowMetrics& m) { return m.max_probability; });
    side.max_slope = band_of(trials, [](const RowMetrics& m) { return m.max_slope; });
    side.jacobian = band_of(trials, [](const RowMetrics& m) { return m.jacobian_frobenius; });
    side.jacobian_raw = times(side.jacobian, raw_factor);
    return side;
}

/// Of a = softmax(factor z).
RowMetrics metrics_of(std::vector<double> z, double factor) {
    for (double& value : z) value *= factor;
    softmax_row(std::span<const double>(z), z, EmptyRows::zero);
    return row_metrics(std::span<const double>(z), std::ssize(z));
}

/// What the trials leave behind for one d_k.
struct Tally {
    Index d_k = 0;
    std::vector<RowMetrics> scaled, unscaled;
    TransientActions z;  // of every trial

    void add(const std::vector<double>& raw) {
        scaled.push_back(metrics_of(raw, raw_factor()));
        add_unscaled(raw);
    }
    /// The logits themselves are scaled, not logits √d_k / √d_k, which may overflow on the way.
    void add_fixed(const std::vector<double>& logits, const std::vector<double>& raw) {
        scaled.push_back(metrics_of(logits, 1.0));
        add_unscaled(raw);
    }
    void add_unscaled(const std::vector<double>& raw) {
        unscaled.push_back(metrics_of(raw, 1.0));
        for (const double value : raw) z.add(value);
    }

    double raw_factor() const { return 1.0 / std::sqrt(static_cast<double>(d_k)); }
    SaturationPoint point() const {
        return {d_k, side_of(scaled, raw_factor()), side_of(unscaled, 1.0), z.variance()};
    }
};

/// Positions of `widths`, narrowest first.
std::vector<std::size_t> by_width(std::span<const Index> widths) {
    std::vector<std::size_t> order(widths.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t l, std::size_t r) { return widths[l] < widths[r]; });
    return order;
}

/// False when stopped.
bool add_sampled_trials(const SaturationSettings& settings, std::span<const Index> widths,
                        const std::stop_token& stop, std::vector<Tally>& tallies) {
    const std::vector<std::size_t> order = by_width(widths);
    for (Index trial = 0; trial < settings.trials; ++trial) {
        GrowingScores scores(settings, trial);
        for (const std::size_t n : order) {
            const auto z = scores.grow_to(widths[n], stop);
            if (!z) return false;
            tallies[n].add(*z);
        }
    }
    return true;
}

}  // namespace

double sample_variance(std::span<const double> z) {
    TransientActions moments;
    for (const double value : z) moments.add(value);
    return moments.variance();
}

Result<std::vector<SaturationPoint>> saturation_sweep(const SaturationSettings& settings,
                                                      std::span<const Index> widths,
                                                      std::stop_token stop) {
    if (auto ok = check_saturation(settings, widths); !ok) return tl::unexpected(ok.error());
    std::vector<Tally> tallies;
    for (const Index d_k : widths) tallies.push_back({d_k, {}, {}, {}});
    if (settings.model == SaturationModel::fixed_logits) {
        for (Tally& tally : tallies)
            tally.add_fixed(settings.logits, raw_scores(settings, tally.d_k));
    } else if (!add_sampled_trials(settings, widths, stop, tallies)) {
        return failed("the sweep was cancelled");
    }
    std::vector<SaturationPoint> points;
    for (const Tally& tally : tallies) points.push_back(tally.point());
    return points;
}

}  // namespace attn
