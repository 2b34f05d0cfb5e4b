// i query, j key, c column; b [1,1,H,Tq+Tk−1], whose column j − i + Tq − 1 is added to q_i · k_j.

#include <algorithm>
#include <array>

#include "core/kernels/eigen_view.h"
#include "core/norms.h"
#include "core/scores/functions.h"
#include "core/scores/pair_formula.h"
#include "core/stop.h"

namespace attn::score {
namespace {

/// Of one query, every key's.
template <class Scalar>
auto biases_of(const TensorOf<Scalar>& b, QueryRows rows, Index i, Index keys) {
    const auto first = static_cast<std::size_t>(rows.first_distance() - i);
    return eigen(b.matrix(0, 0).row(rows.head).subspan(first, static_cast<std::size_t>(keys)));
}

template <class Scalar>
void add_biases(MatrixView<const Scalar> q, MatrixView<const Scalar> k, const TensorOf<Scalar>& b,
                QueryRows rows, MatrixView<Scalar> scores) {
    eigen(scores).noalias() = eigen(q) * eigen(k).transpose();
    for (Index i = 0; i < q.rows; ++i) eigen(scores.row(i)) += biases_of(b, rows, i, k.rows);
}

/// d_q_i += d_s k_j, d_k_j += d_s q_i, d_b of the distance += d_s.
template <class Scalar>
void add_biases_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k, QueryRows rows,
                         MatrixView<const Scalar> d_scores, MatrixView<Scalar> d_q,
                         MatrixView<Scalar> d_k, MatrixView<Scalar> d_b) {
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j) {
            const Scalar d = d_scores(i, j);
            if (d == Scalar{0}) continue;
            eigen(d_q.row(i)) += d * eigen(k.row(j));
            eigen(d_k.row(j)) += d * eigen(q.row(i));
            d_b(rows.head, rows.first_distance() + j - i) += d;
        }
    }
}

template <class Scalar>
constexpr Function<Scalar> functions() {
    using F = Function<Scalar>;
    F function;
    function.products = [](const typename F::P& params, QueryRows rows, typename F::In q,
                           typename F::In k, typename F::Out scores) {
        add_biases(q, k, params[Param::b_score], rows, scores);
    };
    function.products_backward = [](const typename F::P& params, QueryRows rows, typename F::In q,
                                    typename F::In k, typename F::In d_scores, typename F::Out d_q,
                                    typename F::Out d_k, typename F::P& d_params) {
        TensorOf<Scalar>& d_b = d_params[Param::b_score];
        if (d_b.empty()) d_b = TensorOf<Scalar>(params[Param::b_score].shape());
        add_biases_backward(q, k, rows, d_scores, d_q, d_k, d_b.matrix(0, 0));
    };
    return function;
}

/// The bias of a distance is added.
ScoreCost cost(const ScoreSizes& n) { return {n.dot_products(), n.pairs}; }
double growth(const ScoreNorms& n) {
    return 4.0 * (1.0 + largest_finite(n.params[Param::b_score]) / n.product());
}
PairFormula formula() { return dot(q(), k()) + of_distance(Param::b_score); }

constexpr std::array kParams{Param::b_score};

}  // namespace

// clang-format off
constinit const Row relative_row{{
    .title = "Dot product + distance",
    .name = "dot product + distance",
    .tex = R"(\mathrm{scores}_{i,j} = q_i \cdot k_j + b_{\mathrm{score},h,j-i})",
    .text = "The dot product of query and key, plus a learned bias for their distance.",
    .source = "Raffel et al. 2020, arXiv:1910.10683, §2.1",
    .params = kParams,
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q_i)",
    .formula = formula,
    .operands = "q′·k′ is q·k + b_score: each has an extra column for each key",
    .more_operands = ", with an extra column for each key, so that q′·k′ includes b_score",
    .code = R"(distance = {np}.arange({keys}) - {np}.arange({queries})[:, None]  # j - i
scores = q @ k.swapaxes(-1, -2) + b_score[:, distance + {last}])",
    .cost = cost,
    .growth = growth,
}, functions<float>(), functions<double>()};
// clang-format on

}  // namespace attn::score
