#include "core/large/preview.h"

#include <algorithm>
#include <cmath>

#include "core/large/weight_source.h"
#include "core/metrics.h"
#include "core/rng.h"
#include "core/stages.h"

namespace attn::large {
namespace {

constexpr double kMostGflop = 50.0;
constexpr double kMostOfMatrix = 1.0 / 8.0;
constexpr Index kLeastRows = 2;

Index rows_per_band(const Dimensions& size, Index side) {
    const double row_gflop = 2e-9 * static_cast<double>(size.tk * size.d_k);
    const double gflop =
        std::min(kMostGflop, kMostOfMatrix * row_gflop * static_cast<double>(size.tq));
    const double bands = std::ceil(static_cast<double>(size.tq) / static_cast<double>(side));
    const auto affordable = static_cast<Index>(gflop / row_gflop / bands);
    return std::min(std::max(affordable, kLeastRows), side);
}

/// How far the means of a texel's sampled rows are apart tells how far their mean may be from the
/// truth: s² / m · (1 − m / M), m of the M rows sampled.
double standard_error(std::span<const RowPart> parts, Index column, double mean) {
    const auto m = static_cast<double>(parts.size());
    double squares = 0.0;
    double rows = 0.0;
    for (const RowPart& part : parts) {
        const double value = static_cast<double>(part.texels->mean[column]);
        squares += (value - mean) * (value - mean);
        rows += static_cast<double>(part.height);
    }
    return m < 2.0 ? 0.0 : std::sqrt(squares / (m - 1.0) / m * (1.0 - m / rows));
}

std::vector<RowPart> parts_of_band(const PreviewPlan& plan, const std::vector<TexelRow>& sampled,
                                   Index band) {
    std::vector<RowPart> parts;
    const auto begin = static_cast<std::size_t>(plan.band_starts[band]);
    const auto end = static_cast<std::size_t>(plan.band_starts[static_cast<std::size_t>(band) + 1]);
    for (std::size_t n = begin; n < end; ++n)
        parts.push_back({sampled[n].get(), 0, plan.heights[n]});
    return parts;
}

std::vector<TexelRow> folded(const std::vector<TexelRow>& below, const TexelAxis& queries,
                             const TexelAxis& keys) {
    std::vector<TexelRow> rows;
    for (std::size_t r = 0; r < below.size(); r += 2) {
        std::vector<RowPart> parts;
        for (std::size_t n = r; n < std::min(r + 2, below.size()); ++n)
            parts.push_back({below[n].get(), 0, queries.extent(static_cast<Index>(n))});
        rows.push_back(std::make_shared<const Texels>(join_rows(parts, keys, 2)));
    }
    return rows;
}

/// Of each texel of a band that has any weight, to the end of `errors`.
void add_relative_errors(std::span<const RowPart> parts, const Texels& band,
                         std::vector<float>& errors) {
    for (Index c = 0; c < band.columns; ++c) {
        const auto mean = static_cast<double>(band.mean[c]);
        if (mean > 0.0) errors.push_back(static_cast<float>(standard_error(parts, c, mean) / mean));
    }
}

}  // namespace

PreviewPlan plan_preview(const WeightSource& source, int finest, std::uint64_t seed) {
    PreviewPlan plan;
    plan.level = std::max(level_count(source.size) - 2, finest);
    const TexelAxis queries{Index{1} << plan.level, source.size.tq};
    const Index wanted = rows_per_band(source.size, queries.side);
    for (Index band = 0; band < queries.texels(); ++band) {
        plan.band_starts.push_back(static_cast<Index>(plan.rows.size()));
        const Index rows = queries.extent(band);
        const Index strata = std::min(wanted, rows);
        for (Index s = 0; s < strata; ++s) {
            const Index begin = s * rows / strata;
            const Index height = (s + 1) * rows / strata - begin;
            const double u = uniform(seed, static_cast<std::uint64_t>(plan.rows.size()));
            const auto step = static_cast<Index>(u * static_cast<double>(height));
            plan.rows.push_back(band * queries.side + begin + step);
            plan.heights.push_back(height);
        }
    }
    plan.band_starts.push_back(static_cast<Index>(plan.rows.size()));
    return plan;
}

Preview finish_preview(const PreviewPlan& plan, const std::vector<TexelRow>& sampled,
                       const Dimensions& size) {
    Preview preview;
    preview.level = plan.level;
    std::vector<float> errors;
    std::vector<TexelRow> rows;
    const Index side = Index{1} << plan.level;
    for (Index band = 0; band < plan.bands(); ++band) {
        const std::vector<RowPart> parts = parts_of_band(plan, sampled, band);
        rows.push_back(std::make_shared<const Texels>(join_rows(parts, {side, size.tk}, 1)));
        add_relative_errors(parts, *rows.back(), errors);
    }
    if (!errors.empty()) {
        preview.relative_error_median = quantile(errors, 0.5);
        preview.relative_error_95 = quantile(errors, 0.95);
    }
    preview.levels.push_back(std::move(rows));
    for (int level = plan.level; level + 1 < level_count(size); ++level) {
        const Index below = Index{1} << level;
        preview.levels.push_back(folded(preview.levels.back(), {below, size.tq}, {below, size.tk}));
    }
    return preview;
}

}  // namespace attn::large
