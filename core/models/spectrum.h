#pragma once

#include <optional>
#include <vector>

#include <Eigen/Core>

namespace attn {

/// R of a = Q R, Q with orthonormal columns.
Eigen::MatrixXd triangle(const Eigen::MatrixXd& a);

/// Those of a b, largest first, from the small product of their triangles.
std::vector<double> singular_values(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Σ λ / Σ |λ| of the eigenvalues λ of a square matrix; not there: every λ is 0, or they were not found.
std::optional<double> balance_of_eigenvalues(const Eigen::MatrixXd& a);

}  // namespace attn
