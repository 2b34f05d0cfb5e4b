#include <cmath>

#include "core/scores/distances.h"
#include "core/scores/pair_formula.h"

namespace attn::score {
namespace {

double value(double squared) { return -std::log1p(squared); }
double slope(double squared) { return -1.0 / (1.0 + squared); }

/// q − k, squared and summed; 1 + r², ln, the sign.
ScoreCost cost(const ScoreSizes& n) { return {n.dot_products(), n.pairs * (n.d_k + 3.0)}; }
PairFormula formula() { return -ln(number(1.0) + squared_norm(q() - k())); }

}  // namespace

// clang-format off
constinit const Row student_t_row{{
    .title = "Student t",
    .name = "Student t",
    .tex = R"(\mathrm{scores}_{i,j} = -\ln(1 + |q_i - k_j|^2))",
    .text = "Keys nearer to the query get higher scores; distant keys keep more weight than with a Gaussian.",
    .source = "van der Maaten & Hinton 2008, Visualizing Data using t-SNE, JMLR 9, §3.3",
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot \frac{2 (k_j - q_i)}{1 + |q_i - k_j|^2})",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot \frac{2 (q_i - k_j)}{1 + |q_i - k_j|^2})",
    .formula = formula,
    .slope_q = "∂score/∂q = −2 (q − k) ÷ (1 + ‖q − k‖²).",
    .slope_k = "∂score/∂k = −2 (k − q) ÷ (1 + ‖q − k‖²).",
    .code = "scores = -{np}.log(1 + ((q[..., :, None, :] - k[..., None, :, :]) ** 2).sum(-1))",
    .cost = cost,
    .growth = distance_growth,
}, distance_functions<float, value, slope>(),
   distance_functions<double, value, slope>()};
// clang-format on

}  // namespace attn::score
