// x a row, u = x / ‖x‖ its direction; d_ = gradient of.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "core/rounding.h"
#include "core/rows.h"
#include "core/scores/functions.h"
#include "core/scores/pair_formula.h"
#include "core/threads.h"

namespace attn::score {
namespace {

/// √Σ x_c², in float64, whose range the squares of float32 do not leave.
double length_of(std::span<const float> x) {
    constexpr std::size_t kSums = 4;  // side by side, not each after the one before
    double sums[kSums] = {};
    std::size_t c = 0;
    for (; c + kSums <= x.size(); c += kSums)
        for (std::size_t n = 0; n < kSums; ++n) {
            const auto each = static_cast<double>(x[c + n]);
            sums[n] += each * each;
        }
    for (; c < x.size(); ++c) sums[0] += static_cast<double>(x[c]) * static_cast<double>(x[c]);
    return std::sqrt(sums[0] + sums[1] + (sums[2] + sums[3]));
}

/// The same, scaled by the largest entry so that no square leaves the range of a double.
double length_of(std::span<const double> x) {
    double largest = 0.0;
    for (const double each : x)
        if (!(std::abs(each) <= largest)) largest = std::abs(each);  // NaN too
    if (largest == 0.0 || !std::isfinite(largest)) return largest;
    double sum = 0.0;
    for (const double each : x) sum += (each / largest) * (each / largest);
    return largest * std::sqrt(sum);
}

/// row(b, h, t) of every row, on every thread.
template <class Scalar, class Row>
void for_each_row(const TensorOf<Scalar>& x, const Row& row) {
    constexpr Index kRun = 64;
    const Shape shape = x.shape();
    const Index runs = divide_up(shape.t, kRun);
    parallel_for(shape.b * shape.h * runs, {}, [&](Index n, int) {
        const Index head = n / runs;
        const Index first = n % runs * kRun;
        for (Index t = first; t < std::min(first + kRun, shape.t); ++t)
            row(head / shape.h, head % shape.h, t);
    });
}

/// x_t / ‖x_t‖. Edge: a row of zeros has no direction and stays 0, so that its cosines are 0.
template <class Scalar>
TensorOf<Scalar> unit_rows(const TensorOf<Scalar>& x) {
    auto unit = TensorOf<Scalar>::uninitialised(x.shape());
    for_each_row(x, [&](Index b, Index h, Index t) {
        const auto from = x.matrix(b, h).row(t);
        const auto to = unit.matrix(b, h).row(t);
        const double length = length_of(from);
        const double inverse = 1.0 / length;
        if (std::isfinite(inverse))
            std::ranges::transform(from, to.begin(), [=](Scalar each) {
                return static_cast<Scalar>(static_cast<double>(each) * inverse);
            });
        else  // 0, or a denormal double
            std::ranges::transform(from, to.begin(), [=](Scalar each) {
                return length == 0.0 ? Scalar{}
                                     : static_cast<Scalar>(static_cast<double>(each) / length);
            });
    });
    return unit;
}

/// With u = x / ‖x‖: d_x = (d_u − u (u · d_u)) / ‖x‖; 0 for a row of zeros, and where d_u is 0, as of a forbidden key, whatever x is.
template <class Scalar>
TensorOf<Scalar> unit_rows_backward(const TensorOf<Scalar>& x, const TensorOf<Scalar>& d_unit) {
    TensorOf<Scalar> d_x(x.shape());
    for_each_row(x, [&](Index b, Index h, Index t) {
        const auto from = x.matrix(b, h).row(t);
        const auto d_u = d_unit.matrix(b, h).row(t);
        if (std::ranges::all_of(d_u, [](Scalar each) { return each == Scalar{0}; })) return;
        const double length = length_of(from);
        if (length == 0.0) return;
        const double along = attn::dot(from, d_u) / length;  // u · d_u
        for (std::size_t c = 0; c < from.size(); ++c) {
            const double across =
                static_cast<double>(d_u[c]) - static_cast<double>(from[c]) / length * along;
            d_x.matrix(b, h).row(t)[c] = static_cast<Scalar>(across / length);
        }
    });
    return d_x;
}

template <class Scalar>
constexpr Function<Scalar> functions() {
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

/// A row's squares, root and division.
ScoreCost cost(const ScoreSizes& n) {
    const double rows = n.queries + n.keys;
    return {n.dot_products() + 2.0 * rows * n.d_k, rows * (n.d_k + 1.0)};
}
/// Of vectors of length 1.
double growth(const ScoreNorms& n) {
    return 4.0 / std::max(n.q * n.k, std::numeric_limits<double>::min());
}
PairFormula formula() { return dot(q(), k()) / (norm(q()) * norm(k())); }

}  // namespace

// clang-format off
constinit const Row cosine_row{{
    .title = "Cosine",
    .name = "cosine",
    .tex = R"(\mathrm{scores}_{i,j} = \frac{q_i \cdot k_j}{|q_i| \, |k_j|})",
    .text = "The cosine of the angle between query and key; their norms do not count.",
    .source = "Henry et al. 2020, arXiv:2010.04245",
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot (\frac{k_j}{|q_i| \, |k_j|} - \mathrm{scores}_{i,j} \cdot \frac{q_i}{|q_i|^2}))",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot (\frac{q_i}{|q_i| \, |k_j|} - \mathrm{scores}_{i,j} \cdot \frac{k_j}{|k_j|^2}))",
    .formula = formula,
    .slope_q = "∂score/∂q = (k ÷ ‖k‖ − cos θ · q ÷ ‖q‖) ÷ ‖q‖, and 0 where a row has length 0.",
    .slope_k = "∂score/∂k = (q ÷ ‖q‖ − cos θ · k ÷ ‖k‖) ÷ ‖k‖, and 0 where a row has length 0.",
    .undefined = "A row of length 0 has no direction: its cosines are 0.",
    .operands = "q′ and k′ are q and k divided by their lengths",
    .more_operands = ", then divided by their lengths",
    .code = R"(

def unit(x):
    length = {np}.linalg.norm(x, {keep})
    return x / (length + (length == 0))


scores = unit(q) @ unit(k).swapaxes(-1, -2))",
    .cost = cost,
    .growth = growth,
}, functions<float>(), functions<double>()};
// clang-format on

}  // namespace attn::score
