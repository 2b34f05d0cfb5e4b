#include "core/jacobian.h"

#include <cmath>

#include <Eigen/Eigenvalues>

#include "core/metrics.h"

namespace attn {

JacobianSpectrum softmax_spectrum(std::span<const double> a) {
    const auto n = static_cast<Index>(a.size());
    JacobianSpectrum spectrum;
    if (n == 0) return spectrum;
    const std::vector<double> entries = softmax_jacobian(a);
    const Eigen::Map<const Eigen::MatrixXd> jacobian(entries.data(), n, n);  // it is symmetric
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(jacobian);
    spectrum.keys = n;
    spectrum.values.assign(solved.eigenvalues().data(), solved.eigenvalues().data() + n);
    // column k of Eigen's matrix is direction k, and columns lie one after the other
    spectrum.vectors.assign(solved.eigenvectors().data(), solved.eigenvectors().data() + n * n);
    return spectrum;
}

double common_shift_slope(std::span<const double> a) {
    double sum = 0.0;
    double squares = 0.0;
    for (const double weight : a) sum += weight;
    // (J 1)_k = a_k (1 − Σ a)
    for (const double weight : a) squares += weight * weight * (1.0 - sum) * (1.0 - sum);
    return std::sqrt(squares / static_cast<double>(a.size()));
}

Raised raise_score(std::span<const double> a, Index key, double delta) {
    Raised raised;
    const double own = a[static_cast<std::size_t>(key)];
    const double whole = 1.0 + own * std::expm1(delta);
    for (Index k = 0; k < static_cast<Index>(a.size()); ++k) {
        const double weight = a[static_cast<std::size_t>(k)];
        raised.exact.push_back((k == key ? weight * std::exp(delta) : weight) / whole);
        raised.first_order.push_back(weight + delta * weight * ((k == key ? 1.0 : 0.0) - own));
    }
    return raised;
}

}  // namespace attn
