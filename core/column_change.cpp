#include "core/column_change.h"

#include <algorithm>
#include <cmath>

#include "core/reach_weight.h"
#include "core/rows.h"

namespace attn {
namespace {

using Vector = std::vector<double>;

// Of float rows: what is left of one that lies in the span of the others is rounding.
constexpr double kInSpan = 1e-5;

Vector row_of(MatrixView<const float> x, Index row) {
    const std::span<const float> from = x.row(row);
    return {from.begin(), from.end()};
}

double length_of(const Vector& v) { return std::sqrt(dot(v, v)); }

/// Without what lies along `basis`, of length 1 each and at right angles; twice, for the rounding of the first time.
Vector beside(const std::vector<Vector>& basis, Vector v) {
    for (int times = 0; times < 2; ++times)
        for (const Vector& along : basis) {
            const double part = dot(along, v);
            for (std::size_t c = 0; c < v.size(); ++c) v[c] -= part * along[c];
        }
    return v;
}

std::vector<Vector> basis_of_others(MatrixView<const float> x, Index row) {
    std::vector<Vector> basis;
    for (Index j = 0; j < x.rows; ++j) {
        const Vector other = row_of(x, j);
        if (j == row) continue;
        Vector left = beside(basis, other);
        const double length = length_of(left);
        if (!(length > kInSpan * length_of(other))) continue;
        for (double& entry : left) entry /= length;
        basis.push_back(std::move(left));
    }
    return basis;
}

}  // namespace

std::optional<ColumnChange> column_change(MatrixView<const float> x, Index row, double by) {
    if (!std::isfinite(by)) return std::nullopt;
    const Vector own = row_of(x, row);
    const Vector left = beside(basis_of_others(x, row), own);
    const bool alone = length_of(left) > kInSpan * length_of(own);
    auto column = smallest_linear_change(alone ? left : own, by);
    if (!column) return std::nullopt;
    return ColumnChange{*std::move(column), alone};
}

}  // namespace attn
