#include "core/saturation.h"

#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/check.h"
#include "core/saturation_draws.h"
#include "core/softmax.h"

// z raw scores (q·k_j, or logits √d_k), s softmax's input (z / √d_k scaled, z unscaled), a weights.

namespace attn {
namespace {

double root(Index d_k) { return std::sqrt(static_cast<double>(d_k)); }

std::vector<double> times(std::vector<double> values, double factor) {
    for (double& value : values) value *= factor;
    return values;
}

SaturationRow make_row(std::vector<double> s, double raw_factor) {
    SaturationRow row;
    row.weights.resize(s.size());
    softmax_row(std::span<const double>(s), row.weights, EmptyRows::zero);
    row.jacobian = softmax_jacobian(row.weights);
    row.metrics = row_metrics(std::span<const double>(row.weights), std::ssize(s));
    row.scores = std::move(s);
    row.raw_factor = raw_factor;
    return row;
}

/// The sentence of a number outside 1 … `most`.
Result<void> check_count(std::string_view name, Index value, Index most) {
    if (value >= 1 && value <= most) return {};
    return bad_input(fmt::format("{} is {}; expected 1 to {}", name, value, most));
}

Result<void> check_logits(const std::vector<double>& logits) {
    if (logits.empty() || std::ssize(logits) > kMaxSaturationKeys)
        return bad_input(fmt::format("there are {} logits; expected 1 to {}", logits.size(),
                                     kMaxSaturationKeys));
    for (std::size_t j = 0; j < logits.size(); ++j)
        if (!std::isfinite(logits[j]))
            return bad_input(
                fmt::format("logit {} is {}; expected a finite number", j + 1, logits[j]));
    return {};
}

}  // namespace

std::vector<double> raw_scores(const SaturationSettings& settings, Index d_k, Index trial) {
    ATTN_CHECK(d_k >= 1 && trial >= 0, "a demonstration needs d_k >= 1 and trial >= 0");
    if (settings.model == SaturationModel::fixed_logits) return times(settings.logits, root(d_k));
    return *GrowingScores(settings, trial).grow_to(d_k, {});
}

SaturationPair saturation_at(const SaturationSettings& settings, Index d_k, Index trial) {
    std::vector<double> z = raw_scores(settings, d_k, trial);
    // the fixed logits themselves, not logits √d_k / √d_k, so that scaling undoes √d_k exactly
    std::vector<double> scaled = settings.model == SaturationModel::fixed_logits
                                     ? settings.logits
                                     : times(z, 1.0 / root(d_k));
    return {make_row(std::move(scaled), 1.0 / root(d_k)), make_row(std::move(z), 1.0)};
}

Result<void> check_saturation(const SaturationSettings& settings, std::span<const Index> widths) {
    if (widths.empty()) return bad_input("the list of d_k is empty; expected at least one width");
    for (const Index d_k : widths)
        if (auto ok = check_count("d_k", d_k, kMaxSaturationWidth); !ok) return ok;
    if (settings.model == SaturationModel::fixed_logits) return check_logits(settings.logits);
    if (auto ok = check_count("the number of keys", settings.keys, kMaxSaturationKeys); !ok)
        return ok;
    return check_count("the number of trials", settings.trials, kMaxSaturationTrials);
}

}  // namespace attn
