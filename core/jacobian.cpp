#include "core/jacobian.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "core/metrics.h"

namespace attn {

std::vector<double> jacobian_singular_values(std::span<const double> a,
                                             std::span<const double> slopes) {
    const auto n = static_cast<Index>(a.size());
    if (n == 0) return {};
    const std::vector<double> entries = softmax_jacobian(a);
    const Eigen::Map<const Eigen::MatrixXd> jacobian(entries.data(), n, n);  // it is symmetric
    const Eigen::Map<const Eigen::VectorXd> diagonal(slopes.data(), n);
    const Eigen::MatrixXd product = jacobian * diagonal.asDiagonal();
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solved(product.transpose() * product,
                                                                Eigen::EigenvaluesOnly);
    std::vector<double> values;
    for (const double square : solved.eigenvalues())
        values.push_back(std::sqrt(std::max(square, 0.0)));
    return values;
}

Raised raise_score(std::span<const double> a, Index key, double delta) {
    Raised raised;
    const double own = a[key];
    const double whole = 1.0 + own * std::expm1(delta);
    for (Index k = 0; k < static_cast<Index>(a.size()); ++k) {
        const double weight = a[k];
        raised.exact.push_back((k == key ? weight * std::exp(delta) : weight) / whole);
        raised.first_order.push_back(weight + delta * weight * ((k == key ? 1.0 : 0.0) - own));
    }
    return raised;
}

}  // namespace attn
