#include "core/scores/functions.h"
#include "core/scores/pair_formula.h"

namespace attn::score {
namespace {

ScoreCost cost(const ScoreSizes& n) { return {n.dot_products(), 0.0}; }
double growth(const ScoreNorms&) { return 1.0; }
PairFormula formula() { return dot(q(), k()); }

}  // namespace

// clang-format off
constinit const Row dot_row{{
    .title = "Dot product",
    .name = "dot product",
    .tex = R"(\mathrm{scores}_{i,j} = q_i \cdot k_j)",
    .text = "The cosine of the angle between query and key, times both norms.",
    .source = "Vaswani et al. 2017, arXiv:1706.03762, §3.2",
    .gradient_q_tex = R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)",
    .gradient_k_tex = R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q_i)",
    .formula = formula,
    .code = "scores = q @ k.swapaxes(-1, -2)",
    .cost = cost,
    .growth = growth,
}, {}, {}};
// clang-format on

}  // namespace attn::score
