#include "core/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace attn {
namespace {

// a one row of weights, j key column, lambda an eigenvalue of J = diag(a) − a aᵀ.

constexpr double square(double value) { return value * value; }

double entropy_of(std::span<const double> a) {
    double entropy = 0.0;
    for (const double weight : a)
        if (weight > 0.0) entropy -= weight * std::log(weight);
    return entropy;
}

/// ‖J‖_F² = Σ_j a_j² ((1 − a_j)² + Σ_{i≠j} a_i²). The same number as the header's formula, without its
/// cancellation near a one-hot row: the sums without the largest weight are taken by themselves.
double jacobian_frobenius(std::span<const double> a, std::size_t largest) {
    double rest = 0.0, others = 0.0;  // Σ a_i, Σ a_i² over all but the largest
    for (std::size_t j = 0; j < a.size(); ++j)
        if (j != largest) rest += a[j], others += square(a[j]);
    double sum = square(a[largest]) * (square(rest) + others);
    for (std::size_t j = 0; j < a.size(); ++j)
        if (j != largest)
            sum += square(a[j]) * (square(1.0 - a[j]) + square(a[largest]) + others - square(a[j]));
    return std::sqrt(sum);
}

/// 1 + Σ_j a_j² / (λ − a_j): 0 where λ is an eigenvalue of diag(a) − a aᵀ.
double secular(std::span<const double> a, double lambda) {
    double sum = 1.0;
    for (const double weight : a)
        if (weight != 0.0) sum += square(weight) / (lambda - weight);
    return sum;
}

/// The largest eigenvalue lies between the second largest weight and the largest (interlacing; Golub
/// 1973, Some modified matrix eigenvalue problems, §5), where the secular function falls from +∞ to −∞.
double jacobian_spectral(std::span<const double> a, std::size_t largest) {
    double low = 0.0;
    for (std::size_t j = 0; j < a.size(); ++j)
        if (j != largest) low = std::max(low, a[j]);
    double high = a[largest];
    const double close = 1e-15 * high;
    while (high - low > close) {
        const double middle = std::midpoint(low, high);
        if (middle == low || middle == high) break;  // neighbours, as denormals may be
        (secular(a, middle) > 0.0 ? low : high) = middle;
    }
    return low;
}

RowMetrics all_nan() {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan, nan, nan, nan};
}

/// Reorders values.
template <class Value>
double quantile_of(std::span<Value> values, double p) {
    const double at = p * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::ptrdiff_t>(at);
    const auto nth = values.begin() + below;
    std::ranges::nth_element(values, nth);
    const auto low = static_cast<double>(*nth);
    const double rest = at - static_cast<double>(below);
    if (rest == 0.0) return low;
    return std::lerp(low, static_cast<double>(*std::min_element(nth + 1, values.end())), rest);
}

template <class Value>
std::vector<Index> largest_of(std::span<const Value> values, double rounding) {
    double most = -std::numeric_limits<double>::infinity();
    double size = 0.0;
    for (const Value value : values) {
        const auto wide = static_cast<double>(value);
        if (wide > most) most = wide;
        if (std::isfinite(wide)) size = std::max(size, std::abs(wide));
    }
    std::vector<Index> places;
    for (std::size_t n = 0; n < values.size(); ++n) {
        const auto value = static_cast<double>(values[n]);
        if (value == most || most - value <= rounding * size)
            places.push_back(static_cast<Index>(n));
    }
    return places;
}

}  // namespace

std::vector<Index> largest_places(std::span<const double> values, double rounding) {
    return largest_of(values, rounding);
}
std::vector<Index> largest_places(std::span<const float> values, double rounding) {
    return largest_of(values, rounding);
}

double quantile(std::span<float> values, double p) { return quantile_of(values, p); }
double quantile(std::span<double> values, double p) { return quantile_of(values, p); }

RowMetrics row_metrics(std::span<const double> a, Index allowed) {
    if (std::any_of(a.begin(), a.end(), [](double weight) { return std::isnan(weight); }))
        return all_nan();
    const auto top = std::max_element(a.begin(), a.end());
    if (top == a.end() || *top == 0.0) return {};
    const auto largest = static_cast<std::size_t>(top - a.begin());
    RowMetrics metrics;
    metrics.entropy = entropy_of(a);
    metrics.evenness = allowed < 2 ? std::numeric_limits<double>::quiet_NaN()
                                   : metrics.entropy / std::log(static_cast<double>(allowed));
    metrics.max_probability = *top;
    metrics.max_slope = *top * (1.0 - *top);
    metrics.jacobian_frobenius = jacobian_frobenius(a, largest);
    metrics.jacobian_spectral = jacobian_spectral(a, largest);
    metrics.effective_keys = std::exp(metrics.entropy);
    return metrics;
}

RowMetrics row_metrics(std::span<const float> a, Index allowed) {
    const std::vector<double> wide(a.begin(), a.end());
    return row_metrics(std::span<const double>(wide), allowed);
}

std::vector<double> softmax_jacobian(std::span<const double> a) {
    const std::size_t n = a.size();
    std::vector<double> jacobian(n * n);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            jacobian[i * n + j] = (i == j ? a[i] : 0.0) - a[i] * a[j];
    return jacobian;
}

}  // namespace attn
