#pragma once

#include "core/scores/functions.h"
#include "core/scores/operands.h"
#include "core/stop.h"

namespace attn::score {

// Scores that are a function f of the squared distance r² = ‖q_i − k_j‖². i query, j key, c column.

template <class Scalar>
double squared_distance(std::span<const Scalar> q, std::span<const Scalar> k) {
    double sum = 0.0;
    for (std::size_t c = 0; c < q.size(); ++c) {
        const double difference = static_cast<double>(q[c]) - static_cast<double>(k[c]);
        sum += difference * difference;
    }
    return sum;
}

/// scores(i,j) = f(r²).
template <class Scalar, class F>
void distance_scores(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                     MatrixView<Scalar> scores, const F& f) {
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j)
            scores(i, j) = static_cast<Scalar>(f(squared_distance(q.row(i), k.row(j))));
    }
}

/// d_q += 2 f'(r²) (q − k) · d_score, d_k −= the same.
template <class Scalar, class Slope>
void distance_scores_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                              MatrixView<const Scalar> d_scores, MatrixView<Scalar> d_q,
                              MatrixView<Scalar> d_k, const Slope& slope) {
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j) {
            const auto d = static_cast<double>(d_scores(i, j));
            if (d == 0.0) continue;
            const double factor = 2.0 * d * slope(squared_distance(q.row(i), k.row(j)));
            for (Index c = 0; c < q.columns; ++c) {
                const double step =
                    factor * (static_cast<double>(q(i, c)) - static_cast<double>(k(j, c)));
                d_q(i, c) += static_cast<Scalar>(step);
                d_k(j, c) -= static_cast<Scalar>(step);
            }
        }
    }
}

/// `f` and its derivative by r².
template <class Scalar, double (*f)(double), double (*slope)(double)>
constexpr Function<Scalar> distance_functions() {
    using F = Function<Scalar>;
    F function;
    function.products = [](const typename F::P&, QueryRows, typename F::In q, typename F::In k,
                           typename F::Out scores) { distance_scores(q, k, scores, f); };
    function.products_backward = [](const typename F::P&, QueryRows, typename F::In q,
                                    typename F::In k, typename F::In d_scores, typename F::Out d_q,
                                    typename F::Out d_k, typename F::P&) {
        distance_scores_backward(q, k, d_scores, d_q, d_k, slope);
    };
    return function;
}

/// ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖²
inline double distance_growth(const ScoreNorms& n) {
    return 4.0 * (n.q + n.k) * (n.q + n.k) / n.product();
}

}  // namespace attn::score
