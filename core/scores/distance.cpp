#include "core/scores/distances.h"
#include "core/scores/pair_formula.h"

namespace attn::score {
namespace {

double value(double squared) { return -squared; }
double slope(double) { return -1.0; }

/// q − k, squared and summed; the sign.
ScoreCost cost(const ScoreSizes& n) { return {n.dot_products(), n.pairs * (n.d_k + 1.0)}; }
PairFormula formula() { return -squared_norm(q() - k()); }

}  // namespace

// clang-format off
constinit const Row distance_row{{
    .title = "Negative squared distance",
    .name = "negative squared distance",
    .tex = R"(\mathrm{scores}_{i,j} = -|q_i - k_j|^2)",
    .text = "Keys nearer to the query get higher scores: after softmax, a Gaussian of the distance.",
    .source = "Kim, Papamakarios & Mnih 2021, arXiv:2006.04710 (L2 attention)",
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot 2 (k_j - q_i))",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot 2 (q_i - k_j))",
    .formula = formula,
    .slope_q = "∂score/∂q = −2 (q − k).",
    .slope_k = "∂score/∂k = −2 (k − q).",
    .code = "scores = -((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1)",
    .cost = cost,
    .growth = distance_growth,
}, distance_functions<float, value, slope>(),
   distance_functions<double, value, slope>()};
// clang-format on

}  // namespace attn::score
