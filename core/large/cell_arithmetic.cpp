#include <cmath>
#include <limits>
#include <span>

#include "core/large/cell_arithmetic.h"
#include "core/large/weight_map.h"
#include "core/large/weight_source.h"
#include "core/masks.h"
#include "core/rows.h"

namespace attn::large {
namespace {

/// ln Σ e^B = most + ln sum over the allowed keys and the sink; −inf where there are none. NaN and +inf travel.
struct RowSum {
    double most, sum = 1.0;

    double logsumexp() const { return std::isinf(most) ? most : most + std::log(sum); }
};
RowSum sum_of(std::span<const double> biased, double sink) {
    RowSum row{sink};
    for (const double b : biased) row.most = b > row.most || std::isnan(b) ? b : row.most;
    if (std::isinf(row.most)) return row;
    row.sum = std::exp(sink - row.most);
    for (const double b : biased) row.sum += std::exp(b - row.most);
    return row;
}

/// A row with such a score is NaN as a whole.
bool spoils(double biased) {
    return std::isnan(biased) || biased == std::numeric_limits<double>::infinity();
}

double weight_of(const CellArithmetic& cell, const RowSum& row, bool empty_row, EmptyRows policy) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    if (empty_row) return policy == EmptyRows::nan ? kNan : 0.0;
    if (!cell.allowed) return 0.0;
    return std::isfinite(cell.logsumexp) ? std::exp(cell.biased - row.most) / row.sum : kNan;
}

}  // namespace

CellArithmetic cell_arithmetic(const WeightSource& source, Head head, Cell cell) {
    const Dimensions& size = source.size;
    const auto keys = source.k->matrix(head.b, head.h / (size.heads / size.kv_heads));
    const std::span<const float> q = source.q->matrix(head.b, head.h).row(cell.row);
    const std::span<const float> k = keys.row(cell.column);
    const Finish finish = finish_of(source, head);
    std::vector<std::uint8_t> allowed(size.tk);
    fill_allowed(source.spec.mask, size, head.b, head.h, cell.row, allowed);
    CellArithmetic result;
    std::vector<double> biased;
    for (Index j = 0; j < size.tk; ++j) {
        if (allowed[j] == 0) continue;
        biased.push_back(finish(dot(q, keys.row(j)), cell.row, j));
        if (!result.spoiling_key && spoils(biased.back())) {
            result.spoiling_key = j;
            result.spoiling_score = biased.back();
        }
    }
    result.q.assign(q.begin(), q.end());
    result.k.assign(k.begin(), k.end());
    result.score = dot(q, k);
    result.scaled = result.score * finish.factor;
    result.rule = finish.rule;
    result.distance = std::abs(cell.row + finish.offset - cell.column);
    if (finish.mask != nullptr) result.bias = finish.bias(cell.row, cell.column);
    result.biased = finish(result.score, cell.row, cell.column);
    result.sink = sink_of(source, head);
    const RowSum row = sum_of(biased, result.sink);
    result.logsumexp = row.logsumexp();
    result.allowed = allowed[cell.column] != 0;
    result.weight = weight_of(result, row, biased.empty(), source.spec.empty_rows);
    return result;
}

}  // namespace attn::large
