// i query, j key, c column; r² = ‖q_i − k_j‖².

#include <cmath>

#include "core/scores/functions.h"
#include "core/stop.h"

namespace attn::score {
namespace {

template <class Scalar>
double squared_distance(std::span<const Scalar> q, std::span<const Scalar> k) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.size(); ++c) {
        const double difference = static_cast<double>(q[c]) - static_cast<double>(k[c]);
        sum += difference * difference;
    }
    return sum;
}

template <class Scalar>
void log_kernels(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                 MatrixView<Scalar> scores) {
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j)
            scores(i, j) = static_cast<Scalar>(-std::log1p(squared_distance(q.row(i), k.row(j))));
    }
}

/// d_q = −2 (q − k) / (1 + r²) · d_score, d_k = −d_q.
template <class Scalar>
void log_kernels_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                          MatrixView<const Scalar> d_scores, MatrixView<Scalar> d_q,
                          MatrixView<Scalar> d_k) {
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j) {
            const auto d = static_cast<double>(d_scores(i, j));
            if (d == 0.0) continue;
            const double factor = -2.0 * d / (1.0 + squared_distance(q.row(i), k.row(j)));
            for (Index c = 0; c < q.columns; ++c) {
                const double step =
                    factor * (static_cast<double>(q(i, c)) - static_cast<double>(k(j, c)));
                d_q(i, c) += static_cast<Scalar>(step);
                d_k(j, c) -= static_cast<Scalar>(step);
            }
        }
    }
}

}  // namespace

template <class Scalar>
Function<Scalar> student_t() {
    using F = Function<Scalar>;
    F function;
    function.products = [](const typename F::P&, QueryRows, typename F::In q, typename F::In k,
                           typename F::Out scores) { log_kernels(q, k, scores); };
    function.products_backward = [](const typename F::P&, QueryRows, typename F::In q,
                                    typename F::In k, typename F::In d_scores, typename F::Out d_q,
                                    typename F::Out d_k, typename F::P&) {
        log_kernels_backward(q, k, d_scores, d_q, d_k);
    };
    return function;
}

template Function<float> student_t();
template Function<double> student_t();

}  // namespace attn::score
