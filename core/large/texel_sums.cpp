#include "core/large/texel_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/kernels/pair_mask.h"
#include "core/large/weight_rows.h"
#include "core/large/weight_source.h"

namespace attn::large {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// One texel of `cells` cells, of which `allowed` may attend.
void finish(float cells, float allowed, float& mean, float& max, float& log_mean) {
    const float sum = mean;
    mean = std::min(sum / cells, 1.0F);
    max = allowed == 0.0F ? kMinusInfinity : std::min(max, 1.0F);
    log_mean = allowed == 0.0F ? kMinusInfinity
                               : std::min(log_mean * std::numbers::ln2_v<float> / allowed, 0.0F);
    if (std::isnan(sum)) mean = max = log_mean = kNan;
}

}  // namespace

void start_texels(Index rows, Index columns, bool masked, Texels& out) {
    const auto count = static_cast<std::size_t>(rows * columns);
    out.rows = rows;
    out.columns = columns;
    out.mean.assign(count, 0.0F);
    out.max.assign(count, 0.0F);
    out.log_mean.assign(count, 0.0F);
    out.allowed.assign(masked ? count : 0, 0);
}

void finish_texels(const TexelSides& sides, Texels& out) {
    for (Index r = 0; r < out.rows; ++r) {
        const Index height = std::min(sides.row_side, sides.rows - r * sides.row_side);
        for (Index c = 0; c < out.columns; ++c) {
            const Index width = std::min(sides.column_side, sides.columns - c * sides.column_side);
            const std::size_t at = out.at(r, c);
            const auto cells = static_cast<float>(height * width);
            const float allowed = out.allowed.empty() ? cells : static_cast<float>(out.allowed[at]);
            finish(cells, allowed, out.mean[at], out.max[at], out.log_mean[at]);
        }
    }
}

void spread_empty_rows(const WeightSource& source, Head head, std::span<const Index> rows,
                       std::span<const float> logsumexp, Index row_side, Texels& out) {
    if (source.spec.empty_rows == EmptyRows::zero || !source.spec.mask.any()) return;
    const PairMask mask(source.spec, source.size, head.b, head.h, false);
    for (std::size_t n = 0; n < rows.size(); ++n) {
        if (logsumexp[n] != kMinusInfinity || mask.allowed_keys(rows[n]) != 0) continue;
        const std::size_t at = out.at(static_cast<Index>(n) / row_side, 0);
        for (auto* numbers : {&out.mean, &out.max, &out.log_mean})
            std::fill_n(numbers->begin() + static_cast<Index>(at), out.columns, kNan);
    }
}

bool Texels::masked(Index row, Index column) const {
    return !allowed.empty() && allowed[at(row, column)] == 0 && !std::isnan(mean[at(row, column)]);
}

}  // namespace attn::large
