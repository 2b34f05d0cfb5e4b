#include "core/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <Eigen/Core>

namespace attn {
namespace {

// m masked scores of one row, a its weights, e = exp(m - max), j key column.

template <class Scalar>
using ConstRow = Eigen::Map<const Eigen::Array<Scalar, Eigen::Dynamic, 1>>;
template <class Scalar>
using Row = Eigen::Map<Eigen::Array<Scalar, Eigen::Dynamic, 1>>;

template <class Scalar>
ConstRow<Scalar> as_row(std::span<const Scalar> values) {
    return {values.data(), static_cast<Eigen::Index>(values.size())};
}

constexpr SoftmaxRow kEmptyRow{-std::numeric_limits<double>::infinity(), 0.0,
                               -std::numeric_limits<double>::infinity()};

SoftmaxRow sides(double max, double sum) { return {max, sum, max + std::log(sum)}; }

template <class Scalar>
SoftmaxRow empty_row(std::span<Scalar> a, EmptyRows policy) {
    const Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
    std::fill(a.begin(), a.end(), policy == EmptyRows::nan ? nan : Scalar{0});
    return kEmptyRow;
}

/// NaN when there is one, unlike std::max.
template <class Scalar>
Scalar max_or_nan(std::span<const Scalar> m) {
    return as_row(m).template maxCoeff<Eigen::PropagateNaN>();
}

/// e[j] = exp(m[j] − max) for m[j] far below max. Eigen's vector exp of floats stops at exp(−88), which
/// is neither 0 at −∞ nor the denormal that belongs there; below −104 the nearest float is 0.
void fix_tail(std::span<const float> m, float max, std::span<float> e) {
    constexpr float kFar = -87.0F;
    constexpr float kZero = -104.0F;
    if (!(as_row(m).minCoeff() - max < kFar)) return;
    for (std::size_t j = 0; j < m.size(); ++j) {
        const float below = m[j] - max;
        if (below < kFar) e[j] = below < kZero ? 0.0F : std::exp(below);
    }
}

}  // namespace

SoftmaxRow softmax_row(std::span<const float> m, std::span<float> a, EmptyRows policy) {
    const float max = max_or_nan(m);
    if (max == -std::numeric_limits<float>::infinity()) return empty_row(a, policy);
    if (a.data() == m.data()) {
        const std::vector<float> copy(m.begin(), m.end());
        return softmax_row(copy, a, policy);
    }
    Row<float> row(a.data(), static_cast<Eigen::Index>(a.size()));
    row = (as_row(m) - max).exp();
    fix_tail(m, max, a);
    const float sum = row.sum();
    row /= sum;
    return sides(max, sum);
}

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
