// Q, K operands; B biased scores; i query row, j key.

#include "core/large/not_finite.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/bias.h"
#include "core/large/weight_source.h"
#include "core/masks.h"
#include "core/rows.h"
#include "core/spec_arrays.h"

namespace attn::large {
namespace {

constexpr std::uint32_t kMagnitude = 0x7FFFFFFFU;
constexpr std::uint32_t kInfinityBits = 0x7F800000U;
constexpr double kLargestScore =
    1e37;  // in units of log2: beyond it a float of a kernel may overflow
constexpr Index kRowsAtOnce = 1 << 14;  // between two looks at the stop token
constexpr double kMostProducts = 1e10;  // of rows with keys that are not finite

using Rows = MatrixView<const float>;

/// The largest magnitude of a row as its bits: those of infinity or more where an entry is not finite.
std::uint32_t largest_bits(std::span<const float> row) {
    std::uint32_t most = 0;
    for (const float value : row)
        most = std::max(most, std::bit_cast<std::uint32_t>(value) & kMagnitude);
    return most;
}

void note_faults(std::span<const float> row, Index token, OperandFaults& faults) {
    for (std::size_t c = 0; c < row.size(); ++c) {
        if (std::isfinite(row[c])) continue;
        ++(std::isnan(row[c]) ? faults.nans : faults.infinities);
        if (faults.first) continue;
        faults.first = Cell{token, static_cast<Index>(c)};
        faults.first_value = row[c];
    }
}

/// What looking through an operand gives.
struct Looked {
    OperandFaults faults;
    std::vector<Index> not_finite;  // tokens
    float largest = 0.0F;           // of the finite ones
};

bool look_through(const Rows& rows, const std::stop_token& stop, Looked& out) {
    std::uint32_t most = 0;
    for (Index t = 0; t < rows.rows; ++t) {
        if (t % kRowsAtOnce == 0 && stop.stop_requested()) return false;
        const std::uint32_t bits = largest_bits(rows.row(t));
        if (bits < kInfinityBits) {
            most = std::max(most, bits);
            continue;
        }
        note_faults(rows.row(t), t, out.faults);
        out.not_finite.push_back(t);
    }
    out.largest = std::bit_cast<float>(most);
    return true;
}

/// With NaN, +inf or a number near the end of float32; −inf forbids.
bool has_odd_bias(const WeightSource& source) {
    if (!source.spec.mask.bias) return false;
    return std::ranges::any_of(source.spec.mask.bias->values.values(), [](float each) {
        return each != kForbidding && !(std::abs(static_cast<double>(each)) < kLargestScore);
    });
}

bool is_empty_row_nan(const WeightSource& source) {
    return source.spec.empty_rows == EmptyRows::nan && source.spec.mask.any();
}

/// By the arrays of the mask and of the bias.
bool may_attend_custom(const WeightSource& source, Head head, Index i, Index j) {
    const MaskSpec& mask = source.spec.mask;
    if (mask.bias_forbids() && bias_at(mask, head.b, head.h, i, j) == kForbidding) return false;
    if (!mask.custom) return true;
    const auto row = broadcast_row(*mask.custom, head.b, head.h, i);
    return row[row.size() == 1 ? 0 : static_cast<std::size_t>(j)] != 0;
}

/// Keys of begin … end − 1 that query i may attend to, and the first of them.
struct AllowedKeys {
    Index count = 0;
    Index first = 0;
};
AllowedKeys allowed_in_run(const WeightSource& source, Head head, Index i, Index begin, Index end) {
    if (begin >= end) return {};
    if (source.spec.mask.bias_forbids()) {
        AllowedKeys found;
        for (Index j = end - 1; j >= begin; --j)
            if (may_attend_custom(source, head, i, j)) found = {found.count + 1, j};
        return found;
    }
    if (!source.spec.mask.custom) return {end - begin, begin};
    const auto row = broadcast_row(*source.spec.mask.custom, head.b, head.h, i);
    if (row.size() == 1) return row[0] != 0 ? AllowedKeys{end - begin, begin} : AllowedKeys{};
    const auto part = row.subspan(begin, static_cast<std::size_t>(end - begin));
    const Index count = std::ranges::count_if(part, [](std::uint8_t each) { return each != 0; });
    if (count == 0) return {};
    return {count,
            begin + (std::ranges::find_if(part, [](std::uint8_t each) { return each != 0; }) -
                     part.begin())};
}

AllowedKeys allowed_keys(const WeightSource& source, Head head, Index i, Index begin, Index end) {
    const KeyRuns runs = key_runs(source.spec.mask, source.size, head.b, i);
    AllowedKeys all;
    for (const KeyRange run : {runs.first, runs.second}) {
        const AllowedKeys found =
            allowed_in_run(source, head, i, std::max(begin, run.begin), std::min(end, run.end));
        if (all.count == 0) all.first = found.first;
        all.count += found.count;
    }
    return all;
}

/// Rows one after another: what Q, K and the mask alone say of them.
class Fates {
  public:
    Fates(const WeightSource& source, Head head, const Looked& q, const Looked& k)
        : source_(source),
          head_(head),
          q_(source.q->matrix(head.b, head.h)),
          k_(source.k->matrix(head.b, head.h / (source.size.heads / source.size.kv_heads))),
          keys_(k.not_finite),
          finish_(finish_of(source, head)),
          sink_(sink_of(source, head)),
          may_overflow_(has_odd_bias(source) ||
                        static_cast<double>(q.largest) * static_cast<double>(k.largest) *
                                static_cast<double>(source.size.d_k) * std::abs(finish_.factor) *
                                std::numbers::log2e >
                            kLargestScore) {}

    RowFate of(Index i, bool query_is_finite) {
        if (is_plain() && query_is_finite) return RowFate::finite;
        const Index allowed = allowed_keys(source_, head_, i, 0, source_.size.tk).count;
        if (allowed == 0)
            return is_empty_row_nan(source_) ? RowFate::nan_everywhere : RowFate::finite;
        if (spoils(sink_)) return RowFate::nan;
        if (!query_is_finite) return of_query(i);
        if (spoilt_by_keys(i, allowed)) return RowFate::nan;
        return may_overflow_ || products_ > kMostProducts ? RowFate::unknown : RowFate::finite;
    }

  private:
    /// Nothing in the operands can make a row of finite queries NaN.
    bool is_plain() const {
        return keys_.empty() && !may_overflow_ && !is_empty_row_nan(source_) && !spoils(sink_);
    }

    static bool spoils(double logit) {
        return std::isnan(logit) || logit == std::numeric_limits<double>::infinity();
    }

    /// Of a query that is not finite every product is NaN, inf or −inf. A cap makes finite scores of the last two, and
    /// beside a sink all scores may be −inf.
    RowFate of_query(Index i) const {
        const bool nan =
            std::ranges::any_of(q_.row(i), [](float each) { return std::isnan(each); });
        const bool plain = finish_.rule.cap == 0.0 && std::isinf(sink_);
        return nan || plain ? RowFate::nan : RowFate::unknown;
    }

    bool spoilt_by_keys(Index i, Index allowed) {
        const KeyRuns runs = key_runs(source_.spec.mask, source_.size, head_.b, i);
        Index lowest = 0;  // keys whose score is −inf
        for (const KeyRange run : {runs.first, runs.second})
            for (auto j = std::ranges::lower_bound(keys_, run.begin);
                 j != keys_.end() && *j < run.end; ++j) {
                if (products_ > kMostProducts) return false;
                if (!may_attend_custom(source_, head_, i, *j)) continue;
                products_ += static_cast<double>(source_.size.d_k);
                const double score = finish_(dot(q_.row(i), k_.row(*j)), i, *j);
                if (spoils(score)) return true;
                lowest += std::isinf(score) ? 1 : 0;
            }
        return lowest == allowed && std::isinf(sink_);
    }

    const WeightSource& source_;
    Head head_;
    Rows q_, k_;
    const std::vector<Index>& keys_;  // not finite, ascending
    Finish finish_;
    double sink_;  // −inf: none
    bool may_overflow_;
    double products_ = 0.0;
};

}  // namespace

std::optional<Census> take_census(const WeightSource& source, Head head,
                                  const std::stop_token& stop) {
    const Index kv_head = head.h / (source.size.heads / source.size.kv_heads);
    Looked q, k;
    if (!look_through(source.q->matrix(head.b, head.h), stop, q)) return std::nullopt;
    if (!look_through(source.k->matrix(head.b, kv_head), stop, k)) return std::nullopt;
    Census census{q.faults, k.faults, std::vector<RowFate>(source.size.tq)};
    Fates fates(source, head, q, k);
    auto next = q.not_finite.begin();
    for (Index i = 0; i < source.size.tq; ++i) {
        if (i % kRowsAtOnce == 0 && stop.stop_requested()) return std::nullopt;
        const bool finite = next == q.not_finite.end() || *next != i;
        if (!finite) ++next;
        census.rows[i] = fates.of(i, finite);
    }
    return census;
}

RowFate fate_of(const WeightSource& source, Head head, Index i, float logsumexp) {
    if (std::isfinite(logsumexp)) return RowFate::finite;
    if (logsumexp != -std::numeric_limits<float>::infinity()) return RowFate::nan;
    if (allowed_keys(source, head, i, 0, source.size.tk).count > 0) return RowFate::nan;
    return is_empty_row_nan(source) ? RowFate::nan_everywhere : RowFate::finite;
}

void add_nan_row(const WeightSource& source, Head head, Index i, RowFate fate, Index begin,
                 Index end, NanWeights& found) {
    AllowedKeys keys;
    if (fate == RowFate::nan) keys = allowed_keys(source, head, i, begin, end);
    if (fate == RowFate::nan_everywhere) keys = {end - begin, begin};
    if (keys.count <= 0) return;
    ++found.rows;
    found.cells += keys.count;
    if (!found.first || i < found.first->row) found.first = Cell{i, keys.first};
}

}  // namespace attn::large
