#pragma once

#include <vector>

#include "core/large/texel_rows.h"
#include "core/large/tiles.h"

namespace attn {
struct Dimensions;
}  // namespace attn

namespace attn::large {

/// Which queries a preview looks at: some of every band of rows that becomes one row of texels.
/// A band is cut into equal strata and one query of each is drawn, so that the mean over the band,
/// weighted by the strata, is unbiased.
struct PreviewPlan {
    int level = 0;  // its texels are as long as they are wide; this level and coarser ones
    std::vector<Index> rows;         // ascending
    std::vector<Index> heights;      // of each row's stratum
    std::vector<Index> band_starts;  // of each band in `rows`, and the end

    Index bands() const { return static_cast<Index>(band_starts.size()) - 1; }
};

/// At least two queries of each band (all of it where it has fewer), and more as long as it costs no
/// more than an eighth of the matrix and 50 GFLOP. `level` is at least `finest`.
PreviewPlan plan_preview(const WeightSource& source, int finest, std::uint64_t seed);

/// The sampled overview: rows of texels for plan.level and every coarser level.
struct Preview {
    int level = 0;
    std::vector<std::vector<TexelRow>> levels;
    /// Standard error of a texel's mean relative to it, median and 95 % over the texels. From the
    /// variance of the sampled rows with the correction for a finite band; strata make the true error
    /// no larger.
    double relative_error_median = 0.0;
    double relative_error_95 = 0.0;

    const TexelRow& row(int at_level, Index row) const { return levels[at_level - level][row]; }
};

/// `sampled`: one row of texels for each of plan.rows, keys pooled by 2^level.
Preview finish_preview(const PreviewPlan& plan, const std::vector<TexelRow>& sampled,
                       const Dimensions& size);

}  // namespace attn::large
