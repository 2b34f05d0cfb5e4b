#include <array>

#include "core/norms.h"
#include "core/scores/functions.h"
#include "core/scores/pair_formula.h"

namespace attn::score {
namespace {

template <class Scalar>
constexpr Function<Scalar> functions() {
    using F = Function<Scalar>;
    F function;
    function.operands = [](const typename F::P& params, const typename F::T& q,
                           const typename F::T&) {
        return OperandsOf<Scalar>{rows_times(q, params[Param::w_score]), {}};
    };
    function.operands_backward = [](const typename F::P& params, const typename F::T& q,
                                    const typename F::T&, OperandsOf<Scalar>& d,
                                    typename F::P& d_params) {
        d.q = rows_times_backward(q, params[Param::w_score], d.q, d_params[Param::w_score]);
    };
    return function;
}

/// q W
ScoreCost cost(const ScoreSizes& n) {
    return {n.dot_products() + 2.0 * n.queries * n.d_k * n.d_k, 0.0};
}
double growth(const ScoreNorms& n) {
    return 4.0 * (1.0 + largest_row_sum(n.params[Param::w_score]));
}
PairFormula formula() { return dot(q() * Param::w_score, k()); }

constexpr std::array kParams{Param::w_score};

}  // namespace

// clang-format off
constinit const Row general_row{{
    .title = "General (bilinear)",
    .name = "general",
    .tex = R"(\mathrm{scores}_{i,j} = q_i \, W_{\mathrm{score}} \, k_j)",
    .text = "A learned matrix says which directions of a query match which directions of a key.",
    .source = "Luong et al. 2015, arXiv:1508.04025, §3.1",
    .params = kParams,
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score}} \, k_j)",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, q_i \, W_{\mathrm{score}})",
    .formula = formula,
    .slope_q = "∂score/∂q = W_score k.",
    .slope_k = "∂score/∂k = q W_score.",
    .operands = "q′ is q times W_score",
    .more_operands = ", q′ then times W_score",
    .code = "scores = (q @ W_score) @ k.swapaxes(-1, -2)",
    .cost = cost,
    .growth = growth,
}, functions<float>(), functions<double>()};
// clang-format on

}  // namespace attn::score
