// i query, j key, c column; b [1,1,H,Tq+Tk−1], whose column j − i + Tq − 1 is added to q_i · k_j.

#include "core/kernels/eigen_view.h"
#include "core/scores/functions.h"
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

}  // namespace

template <class Scalar>
Function<Scalar> relative() {
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

template Function<float> relative();
template Function<double> relative();

}  // namespace attn::score
