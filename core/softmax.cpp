#include "core/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attn {
namespace {

// m masked scores of one row, a its weights, j key column.

constexpr SoftmaxRow kEmptyRow{-std::numeric_limits<double>::infinity(), 0.0,
                               -std::numeric_limits<double>::infinity()};

SoftmaxRow sides(double max, double sum) { return {max, sum, max + std::log(sum)}; }

SoftmaxRow empty_row(std::span<double> a, EmptyRows policy) {
    std::ranges::fill(a, policy == EmptyRows::nan ? std::numeric_limits<double>::quiet_NaN() : 0.0);
    return kEmptyRow;
}

/// NaN when there is one, unlike std::max; −inf of none.
template <class Scalar>
double max_or_nan(std::span<const Scalar> m) {
    double max = -std::numeric_limits<double>::infinity();
    for (const double score : m)
        if (!(score <= max)) max = std::isnan(max) ? max : score;
    return max;
}

}  // namespace

SoftmaxRow softmax_row(std::span<const double> m, std::span<double> a, EmptyRows policy) {
    const double max = max_or_nan(m);
    if (max == -std::numeric_limits<double>::infinity()) return empty_row(a, policy);
    double sum = 0.0;
    for (std::size_t j = 0; j < m.size(); ++j) sum += a[j] = std::exp(m[j] - max);
    for (double& weight : a) weight /= sum;
    return sides(max, sum);
}

SoftmaxRow softmax_sides(std::span<const float> m) {
    const double max = max_or_nan(m);
    if (max == -std::numeric_limits<double>::infinity()) return kEmptyRow;
    double sum = 0.0;
    for (const float score : m) sum += std::exp(score - max);
    return sides(max, sum);
}

}  // namespace attn
