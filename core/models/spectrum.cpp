// Apart from where it is used: Eigen's decompositions take longer to compile than the rest of models/ together.
#include "core/models/spectrum.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace attn {

using Matrix = Eigen::MatrixXd;

Matrix triangle(const Matrix& a) {
    const Matrix packed = Eigen::HouseholderQR<Matrix>(a).matrixQR();
    return packed.topRows(std::min(a.rows(), a.cols())).triangularView<Eigen::Upper>();
}

std::vector<double> singular_values(const Matrix& a, const Matrix& b) {
    const Matrix small = triangle(a) * triangle(b.transpose()).transpose();
    const Eigen::VectorXd values = Eigen::JacobiSVD<Matrix>(small).singularValues();
    return {values.begin(), values.end()};
}

std::optional<double> balance_of_eigenvalues(const Matrix& a) {
    const Eigen::EigenSolver<Matrix> solver(a, false);
    if (solver.info() != Eigen::Success) return std::nullopt;
    const double sizes = solver.eigenvalues().cwiseAbs().sum();
    const double sum = solver.eigenvalues().sum().real();
    if (!(sizes > 0.0) || !std::isfinite(sum / sizes)) return std::nullopt;
    return sum / sizes;
}

}  // namespace attn
