// i query, j key, c column of the hidden layer; t = tanh(q_ic + k_jc). Nothing of [Tq, Tk, a] is stored.

#include <algorithm>
#include <array>

#include "core/kernels/eigen_view.h"
#include "core/norms.h"
#include "core/scores/functions.h"
#include "core/scores/pair_formula.h"
#include "core/stop.h"

namespace attn::score {
namespace {

/// scores(i,j) = Σ_c w_c tanh(q_ic + k_jc); w [1,1,1,a].
template <class Scalar>
void tanh_sums(MatrixView<const Scalar> q, MatrixView<const Scalar> k, const TensorOf<Scalar>& w,
               MatrixView<Scalar> scores) {
    const auto weights = eigen(w.values());
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j)
            scores(i, j) = ((eigen(q.row(i)) + eigen(k.row(j))).tanh() * weights).sum();
    }
}

/// With t = tanh(q_ic + k_jc): d_q_ic += Σ_j d_s w_c (1 − t²), d_k_jc the same over i, d_w_c += Σ_ij d_s t.
template <class Scalar>
void tanh_sums_backward(MatrixView<const Scalar> q, MatrixView<const Scalar> k,
                        const TensorOf<Scalar>& w, MatrixView<const Scalar> d_scores,
                        MatrixView<Scalar> d_q, MatrixView<Scalar> d_k, TensorOf<Scalar>& d_w) {
    if (d_w.empty()) d_w = TensorOf<Scalar>(w.shape());
    const auto weights = eigen(w.values());
    RowArray<Scalar> t(w.count());
    for (Index i = 0; i < q.rows; ++i) {
        end_if_stopped();
        for (Index j = 0; j < k.rows; ++j) {
            const Scalar d = d_scores(i, j);
            if (d == Scalar{0}) continue;
            t = (eigen(q.row(i)) + eigen(k.row(j))).tanh();
            eigen(d_w.values()) += d * t;
            t = d * weights * (Scalar{1} - t.square());
            eigen(d_q.row(i)) += t;
            eigen(d_k.row(j)) += t;
        }
    }
}

template <class Scalar>
constexpr Function<Scalar> functions() {
    using F = Function<Scalar>;
    F function;
    function.operands = [](const typename F::P& params, const typename F::T& q,
                           const typename F::T& k) {
        return OperandsOf<Scalar>{rows_times(q, params[Param::w_score_q]),
                                  rows_times(k, params[Param::w_score_k])};
    };
    function.operands_backward = [](const typename F::P& params, const typename F::T& q,
                                    const typename F::T& k, OperandsOf<Scalar>& d,
                                    typename F::P& d_params) {
        d.q = rows_times_backward(q, params[Param::w_score_q], d.q, d_params[Param::w_score_q]);
        d.k = rows_times_backward(k, params[Param::w_score_k], d.k, d_params[Param::w_score_k]);
    };
    function.products = [](const typename F::P& params, QueryRows, typename F::In q,
                           typename F::In k, typename F::Out scores) {
        tanh_sums(q, k, params[Param::w_score_row], scores);
    };
    function.products_backward = [](const typename F::P& params, QueryRows, typename F::In q,
                                    typename F::In k, typename F::In d_scores, typename F::Out d_q,
                                    typename F::Out d_k, typename F::P& d_params) {
        tanh_sums_backward(q, k, params[Param::w_score_row], d_scores, d_q, d_k,
                           d_params[Param::w_score_row]);
    };
    return function;
}

/// q W and k W, then w · tanh(… + …): a tanh and an addition for each hidden number.
ScoreCost cost(const ScoreSizes& n) {
    return {n.dot_products() + 2.0 * (n.queries + n.keys) * n.d_k * n.d_k, 2.0 * n.pairs * n.d_k};
}
double growth(const ScoreNorms& n) {
    const auto sum = [&](Param param) { return largest_row_sum(n.params[param]); };
    return (1.0 + 1.0 / n.product()) * (1.0 + n.q + n.k) * 4.0 *
           (1.0 + sum(Param::w_score_q) + sum(Param::w_score_k)) * (1.0 + sum(Param::w_score_row));
}
PairFormula formula() {
    return dot(row(Param::w_score_row), tanh(q() * Param::w_score_q + k() * Param::w_score_k));
}

constexpr std::array kParams{Param::w_score_q, Param::w_score_k, Param::w_score_row};

}  // namespace

// clang-format off
constinit const Row additive_row{{
    .title = "Additive",
    .name = "additive",
    .tex = R"(\mathrm{scores}_{i,j} = w_{\mathrm{score}} \cdot \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
    .text = "A small network with one hidden layer scores each pair.",
    .source = "Bahdanau et al. 2015, arXiv:1409.0473, A.1.2",
    .params = kParams,
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score},q} \, (w_{\mathrm{score}} \circ (1 - h_{i,j}^2)), \; h_{i,j} = \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score},k} \, (w_{\mathrm{score}} \circ (1 - h_{i,j}^2)), \; h_{i,j} = \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
    .formula = formula,
    .slope_q = "∂score/∂q = W_score_q (w_score · (1 − tanh²)).",
    .slope_k = "∂score/∂k = W_score_k (w_score · (1 − tanh²)).",
    .code = 
        "scores = {np}.tanh((q @ W_score_q)[..., :, None, :] + (k @ W_score_k)[..., None, :, :]) @ w_score",
    .cost = cost,
    .growth = growth,
}, functions<float>(), functions<double>()};
// clang-format on

}  // namespace attn::score
