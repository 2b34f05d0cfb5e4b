#include "core/io/array_stats.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/io/npy.h"

namespace attn {
namespace {

constexpr double kUnitRow = 1e-3;      // how far from 1 the sum of a row of weights may be
constexpr double kMaskedBelow = -1e4;  // what libraries write for −inf lies below
constexpr std::size_t kPiece = std::size_t{1} << 20;

/// Index [.., i, j] of the n-th number, C order.
std::vector<Index> place_of(const std::vector<Index>& extents, std::size_t n) {
    std::vector<Index> place(extents.size());
    auto rest = static_cast<Index>(n);
    for (std::size_t axis = extents.size(); axis-- > 0;) {
        place[axis] = rest % extents[axis];
        rest /= extents[axis];
    }
    return place;
}

/// The power of two that brings low and high near 1.
double unit_of(const ArrayStats& stats) {
    constexpr int kMost = 900;
    const double largest = std::max(std::abs(stats.low), std::abs(stats.high));
    return largest > 0.0 ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -kMost, kMost)) : 1.0;
}

template <class Value>
bool add_numbers(ArrayStats& stats, const std::vector<Index>& extents,
                 const std::vector<Value>& values, const RunControl& control) {
    long double sum = 0.0L;  // whose exponent no sum of float64 numbers leaves
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n % kPiece == 0 && control.stop.stop_requested()) return false;
        const auto value = static_cast<double>(values[n]);
        if (std::isfinite(value)) {
            stats.low = stats.finite ? std::min(stats.low, value) : value;
            stats.high = stats.finite ? std::max(stats.high, value) : value;
            stats.finite = true;
            stats.zeros += value == 0.0 ? 1 : 0;
            sum += value;
        } else if (std::isnan(value)) {
            if (stats.nans++ == 0) stats.first_nan = place_of(extents, n);
        } else if (stats.infs++ == 0) {
            stats.first_inf = place_of(extents, n);
        }
    }
    stats.count = static_cast<double>(values.size());
    if (stats.finite)
        stats.mean = static_cast<double>(sum / (stats.count - stats.nans - stats.infs));
    return true;
}

template <class Value>
bool add_bins(ArrayStats& stats, const std::vector<Value>& values, const RunControl& control) {
    if (!stats.finite) return true;
    const double unit = unit_of(stats), low = stats.low * unit, mean = stats.mean * unit;
    const double width = stats.high * unit - low;
    double squares = 0.0;
    for (std::size_t n = 0; n < values.size(); ++n) {
        if (n % kPiece == 0 && control.stop.stop_requested()) return false;
        const double value = static_cast<double>(values[n]) * unit;
        if (!std::isfinite(value)) continue;
        squares += (value - mean) * (value - mean);
        const double share = width > 0.0 ? (value - low) / width : 0.0;
        const auto bin = static_cast<std::size_t>(share * kStatBins);
        ++stats.bins[std::min(bin, kStatBins - 1)];
    }
    stats.deviation = std::sqrt(squares / (stats.count - stats.nans - stats.infs)) / unit;
    return true;
}

/// Sums of rows, and what stands above the diagonals.
template <class Value>
void add_rows(ArrayStats& stats, const std::vector<Index>& extents,
              const std::vector<Value>& values) {
    if (extents.size() < 2 || values.empty()) return;
    const Index columns = extents.back();
    const Index rows = extents[extents.size() - 2];
    const bool square = rows == columns && rows > 1;
    stats.nonnegative = stats.nans == 0 && stats.finite && stats.low >= 0.0;
    stats.lower = stats.masked_above = square;
    const auto count = static_cast<Index>(values.size());
    for (Index row = 0; row * columns < count; ++row) {
        double sum = 0.0;
        for (Index j = 0; j < columns; ++j) {
            const auto value = static_cast<double>(values[row * columns + j]);
            sum += value;
            if (!square || j <= row % rows) continue;
            stats.lower = stats.lower && value == 0.0;
            stats.masked_above = stats.masked_above && value < kMaskedBelow;
        }
        stats.least_sum = row == 0 ? sum : std::min(stats.least_sum, sum);
        stats.most_sum = row == 0 ? sum : std::max(stats.most_sum, sum);
        stats.unit_rows += std::abs(sum - 1.0) <= kUnitRow ? 1 : 0;
        ++stats.rows;
    }
}

/// The number of largest size among those of a cell; NaN before all.
template <class Value>
void add_preview(ArrayStats& stats, const std::vector<Index>& extents,
                 const std::vector<Value>& values) {
    if (extents.empty() || values.empty()) return;
    const Index columns = extents.back();
    const Index rows = extents.size() > 1 ? extents[extents.size() - 2] : 1;
    stats.preview_rows = std::min(rows, kMostPreview);
    stats.preview_columns = std::min(columns, kMostPreview);
    stats.preview.assign(stats.preview_rows * stats.preview_columns, 0.0F);
    for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < columns; ++j) {
            const auto value = static_cast<float>(values[i * columns + j]);
            const Index at = i * stats.preview_rows / rows * stats.preview_columns +
                             j * stats.preview_columns / columns;
            float& retained = stats.preview[at];
            if (std::isnan(value) || std::abs(value) > std::abs(retained)) retained = value;
        }
}

}  // namespace

ArrayStats measure_array(const NpyArray& array, const RunControl& control) {
    ArrayStats stats;
    const auto measure = [&](const auto& values) {
        using Value = typename std::decay_t<decltype(values)>::value_type;
        if constexpr (!std::is_arithmetic_v<Value> || std::is_same_v<Value, char>) {
            stats.fault = "text: it has no numbers";
        } else if (values.empty()) {
            stats.fault = "it holds no numbers: an axis has length 0";
        } else if (add_numbers(stats, array.extents, values, control) &&
                   add_bins(stats, values, control)) {
            add_rows(stats, array.extents, values);
            add_preview(stats, array.extents, values);
        } else {
            stats.fault = "it was not measured to the end";
        }
    };
    std::visit(measure, array.values);
    return stats;
}

}  // namespace attn
