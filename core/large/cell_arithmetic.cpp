#include <cmath>
#include <limits>
#include <span>

#include "core/large/weight_map.h"
#include "core/masks.h"

namespace attn::large {
namespace {

/// ln Σ e^S over the allowed keys; −inf where there are none. NaN and +inf travel.
double logsumexp_of(std::span<const double> scaled) {
    double most = -std::numeric_limits<double>::infinity();
    for (const double s : scaled) most = s > most || std::isnan(s) ? s : most;
    if (std::isinf(most)) return most;
    double sum = 0.0;
    for (const double s : scaled) sum += std::exp(s - most);
    return most + std::log(sum);
}

/// A row with such a score is NaN as a whole.
bool spoils(double scaled) {
    return std::isnan(scaled) || scaled == std::numeric_limits<double>::infinity();
}

double weight_of(const CellArithmetic& cell, bool empty_row, EmptyRows policy) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    if (empty_row) return policy == EmptyRows::nan ? kNan : 0.0;
    if (!cell.allowed) return 0.0;
    return std::isfinite(cell.logsumexp) ? std::exp(cell.scaled - cell.logsumexp) : kNan;
}

}  // namespace

CellArithmetic cell_arithmetic(const WeightSource& source, Head head, Cell cell) {
    const Dimensions& size = source.size;
    const auto keys = source.k->matrix(head.b, head.h / (size.heads / size.kv_heads));
    const std::span<const float> q = source.q->matrix(head.b, head.h).row(cell.row);
    const std::span<const float> k = keys.row(cell.column);
    const double factor = score_factor(source.spec, size.d_k);
    std::vector<std::uint8_t> allowed(static_cast<std::size_t>(size.tk));
    fill_allowed(source.spec.mask, size, head.b, head.h, cell.row, allowed);
    CellArithmetic result;
    std::vector<double> scaled;
    for (Index j = 0; j < size.tk; ++j) {
        if (allowed[static_cast<std::size_t>(j)] == 0) continue;
        scaled.push_back(dot(q, keys.row(j)) * factor);
        if (!result.spoiling_key && spoils(scaled.back())) {
            result.spoiling_key = j;
            result.spoiling_score = scaled.back();
        }
    }
    result.q.assign(q.begin(), q.end());
    result.k.assign(k.begin(), k.end());
    result.score = dot(q, k);
    result.scaled = result.score * factor;
    result.logsumexp = logsumexp_of(scaled);
    result.allowed = allowed[static_cast<std::size_t>(cell.column)] != 0;
    result.weight = weight_of(result, scaled.empty(), source.spec.empty_rows);
    return result;
}

}  // namespace attn::large
