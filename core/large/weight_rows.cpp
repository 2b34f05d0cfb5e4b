// i query row, j key column, S scaled score, L logsumexp of a row, a weight.

#include "core/large/weight_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/masks.h"

namespace attn::large {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

Index divide_up(Index a, Index b) { return (a + b - 1) / b; }

/// The scores of one row over some keys, and which of them may attend.
class ScoreRow {
  public:
    ScoreRow(const WeightSource& source, Head head, KeyRange keys)
        : source_(source),
          head_(head),
          keys_(keys),
          factor_(score_factor(source.spec, source.size.d_k)) {}

    void set(Index i) {
        const Dimensions& size = source_.size;
        const auto q = source_.q->matrix(head_.b, head_.h).row(i);
        const auto k = source_.k->matrix(head_.b, head_.h / (size.heads / size.kv_heads));
        scaled.assign(static_cast<std::size_t>(keys_.end - keys_.begin), 0.0);
        allowed.assign(scaled.size(), 0);
        for (std::size_t n = 0; n < scaled.size(); ++n) {
            const Index j = keys_.begin + static_cast<Index>(n);
            if (!may_attend(source_.spec.mask, size, head_.b, head_.h, i, j)) continue;
            allowed[n] = 1;
            double score = 0.0;
            for (std::size_t c = 0; c < q.size(); ++c)
                score += static_cast<double>(q[c]) * static_cast<double>(k.row(j)[c]);
            scaled[n] = score * factor_;
        }
    }

    double logsumexp() const {
        double top = -std::numeric_limits<double>::infinity();
        for (std::size_t n = 0; n < scaled.size(); ++n)
            if (allowed[n] != 0 && !(scaled[n] <= top)) top = scaled[n];
        if (std::isinf(top) && top < 0.0) return top;
        double sum = 0.0;
        for (std::size_t n = 0; n < scaled.size(); ++n)
            if (allowed[n] != 0) sum += std::exp(scaled[n] - top);
        return top + std::log(sum);
    }

    std::vector<double> scaled;
    std::vector<std::uint8_t> allowed;

  private:
    const WeightSource& source_;
    Head head_;
    KeyRange keys_;
    double factor_;
};

void start(Index rows, Index columns, bool masked, Texels& out) {
    const auto count = static_cast<std::size_t>(rows * columns);
    out.rows = rows;
    out.columns = columns;
    out.mean.assign(count, 0.0F);
    out.max.assign(count, kMinusInfinity);
    out.log_mean.assign(count, 0.0F);
    out.allowed.assign(masked ? count : 0, 0);
}

/// Adds a row of weights to a row of texels: sums for now.
void add_row(const ScoreRow& row, double logsumexp, Index side, Index texel_row, bool nan_row,
             Texels& out) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const double known = std::isfinite(logsumexp) ? logsumexp : nan;
    for (std::size_t n = 0; n < row.scaled.size(); ++n) {
        const std::size_t at = out.at(texel_row, static_cast<Index>(n) / side);
        if (nan_row) out.mean[at] = std::numeric_limits<float>::quiet_NaN();
        if (row.allowed[n] == 0) continue;
        const double log_weight = row.scaled[n] - known;
        const auto weight = static_cast<float>(std::exp(log_weight));
        out.mean[at] += weight;
        if (!(weight <= out.max[at])) out.max[at] = weight;
        out.log_mean[at] += static_cast<float>(log_weight);
        if (!out.allowed.empty()) ++out.allowed[at];
    }
}

void finish(Index rows, Index keys, Index row_side, Index key_side, Texels& out) {
    for (Index r = 0; r < out.rows; ++r)
        for (Index c = 0; c < out.columns; ++c) {
            const std::size_t at = out.at(r, c);
            const Index cells =
                std::min(row_side, rows - r * row_side) * std::min(key_side, keys - c * key_side);
            const Index allowed = out.allowed.empty() ? cells : out.allowed[at];
            out.mean[at] /= static_cast<float>(cells);
            out.log_mean[at] =
                allowed == 0 ? kMinusInfinity : out.log_mean[at] / static_cast<float>(allowed);
            if (std::isnan(out.mean[at])) out.max[at] = out.log_mean[at] = out.mean[at];
        }
}

bool nothing_allowed(const ScoreRow& row) {
    return std::find(row.allowed.begin(), row.allowed.end(), std::uint8_t{1}) == row.allowed.end();
}

}  // namespace

bool Texels::masked(Index row, Index column) const {
    return !allowed.empty() && allowed[at(row, column)] == 0 && !std::isnan(mean[at(row, column)]);
}

bool pool_rows(const WeightSource& source, Head head, std::span<const Index> rows, Index pool_rows,
               Index pool_keys, const std::stop_token& stop, PooledRows& out) {
    const auto count = static_cast<Index>(rows.size());
    const Index tk = source.size.tk;
    start(divide_up(count, pool_rows), divide_up(tk, pool_keys), source.spec.mask.any(),
          out.texels);
    out.logsumexp.resize(rows.size());
    ScoreRow row(source, head, {0, tk});
    for (std::size_t n = 0; n < rows.size(); ++n) {
        if (stop.stop_requested()) return false;
        row.set(rows[n]);
        const double logsumexp = row.logsumexp();
        out.logsumexp[n] = static_cast<float>(logsumexp);
        const bool nan_row = source.spec.empty_rows == EmptyRows::nan && nothing_allowed(row);
        add_row(row, logsumexp, pool_keys, static_cast<Index>(n) / pool_rows, nan_row, out.texels);
    }
    finish(count, tk, pool_rows, pool_keys, out.texels);
    return true;
}

bool pool_cells(const WeightSource& source, Head head, std::span<const float> logsumexp, Index row,
                Index column, Index rows, Index columns, Index side, const std::stop_token& stop,
                Texels& out) {
    start(divide_up(rows, side), divide_up(columns, side), source.spec.mask.any(), out);
    ScoreRow scores(source, head, {column, column + columns});
    for (Index n = 0; n < rows; ++n) {
        if (stop.stop_requested()) return false;
        scores.set(row + n);
        const float known = logsumexp[static_cast<std::size_t>(n)];
        bool nan_row = false;
        if (source.spec.empty_rows == EmptyRows::nan && std::isinf(known)) {
            std::vector<std::uint8_t> allowed(static_cast<std::size_t>(source.size.tk));
            nan_row =
                fill_allowed(source.spec.mask, source.size, head.b, head.h, row + n, allowed) == 0;
        }
        add_row(scores, static_cast<double>(known), side, n / side, nan_row, out);
    }
    finish(rows, columns, side, side, out);
    return true;
}

}  // namespace attn::large
