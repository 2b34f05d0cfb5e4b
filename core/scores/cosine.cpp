// x a row, u = x / ‖x‖ its direction; d_ = gradient of.

#include <algorithm>
#include <cmath>
#include <span>

#include "core/rows.h"
#include "core/scores/functions.h"

namespace attn::score {
namespace {

/// ‖x‖, scaled by the largest entry so that no square leaves the range of a double.
template <class Scalar>
double norm(std::span<const Scalar> x) {
    double largest = 0.0;
    for (const Scalar each : x) {
        const double size = std::abs(static_cast<double>(each));
        if (!(size <= largest)) largest = size;  // NaN too
    }
    if (largest == 0.0 || !std::isfinite(largest)) return largest;
    double sum = 0.0;
    for (const Scalar each : x) sum += std::pow(static_cast<double>(each) / largest, 2);
    return largest * std::sqrt(sum);
}

template <class Scalar, class Row>
void for_each_row(const TensorOf<Scalar>& x, const Row& row) {
    for (Index b = 0; b < x.shape().b; ++b)
        for (Index h = 0; h < x.shape().h; ++h)
            for (Index t = 0; t < x.shape().t; ++t) row(b, h, t);
}

/// x_t / ‖x_t‖. Edge: a row of zeros has no direction and stays 0, so that its cosines are 0.
template <class Scalar>
TensorOf<Scalar> unit_rows(const TensorOf<Scalar>& x) {
    TensorOf<Scalar> unit(x.shape());
    for_each_row(x, [&](Index b, Index h, Index t) {
        const auto from = x.matrix(b, h).row(t);
        const double length = norm(from);
        if (length == 0.0) return;
        std::ranges::transform(from, unit.matrix(b, h).row(t).begin(), [&](Scalar each) {
            return static_cast<Scalar>(static_cast<double>(each) / length);
        });
    });
    return unit;
}

/// With u = x / ‖x‖: d_x = (d_u − u (u · d_u)) / ‖x‖; 0 for a row of zeros.
template <class Scalar>
TensorOf<Scalar> unit_rows_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& d_unit) {
    TensorOf<Scalar> d_x(x.shape());
    for_each_row(x, [&](Index b, Index h, Index t) {
        const auto from = x.matrix(b, h).row(t);
        const auto d_u = d_unit.matrix(b, h).row(t);
        const double length = norm(from);
        if (length == 0.0) return;
        const double along = dot(from, d_u) / length;  // u · d_u
        for (std::size_t c = 0; c < from.size(); ++c) {
            const double across =
                static_cast<double>(d_u[c]) - static_cast<double>(from[c]) / length * along;
            d_x.matrix(b, h).row(t)[c] = static_cast<Scalar>(across / length);
        }
    });
    return d_x;
}

}  // namespace

template <class Scalar>
Function<Scalar> cosine() {
    using F = Function<Scalar>;
    F function;
    function.operands = [](const typename F::P&, const typename F::T& q, const typename F::T& k) {
        return OperandsOf<Scalar>{unit_rows(q), unit_rows(k)};
    };
    function.operands_backward = [](const typename F::P&, const typename F::T& q,
                                    const typename F::T& k, OperandsOf<Scalar>& d, typename F::P&) {
        d.q = unit_rows_backward(q, d.q);
        d.k = unit_rows_backward(k, d.k);
    };
    return function;
}

template Function<float> cosine();
template Function<double> cosine();

}  // namespace attn::score
