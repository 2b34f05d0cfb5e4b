#include "core/scores/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/call.h"
#include "core/norms.h"
#include "core/scores/functions.h"
#include "core/scores/pair_rule.h"
#include "core/spec_arrays.h"

namespace attn {

// Each in the file of its name.
namespace score {
template <class Scalar>
Function<Scalar> cosine();
template <class Scalar>
Function<Scalar> general();
template <class Scalar>
Function<Scalar> additive();
template <class Scalar>
Function<Scalar> student_t();
template <class Scalar>
Function<Scalar> relative();
}  // namespace score

namespace {

constexpr std::array kGeneralParams{Param::w_score};
constexpr std::array kRelativeParams{Param::b_score};
constexpr std::array kAdditiveParams{Param::w_score_q, Param::w_score_k, Param::w_score_row};

// ---- FLOPs

ScoreCost dot_cost(const ScoreSizes& n) { return {n.dot_products(), 0.0}; }
/// A row's squares, root and division.
ScoreCost cosine_cost(const ScoreSizes& n) {
    const double rows = n.queries + n.keys;
    return {n.dot_products() + 2.0 * rows * n.d_k, rows * (n.d_k + 1.0)};
}
/// q W
ScoreCost general_cost(const ScoreSizes& n) {
    return {n.dot_products() + 2.0 * n.queries * n.d_k * n.d_k, 0.0};
}
/// q W and k W, then w · tanh(… + …): a tanh and an addition for each hidden number.
ScoreCost additive_cost(const ScoreSizes& n) {
    return {n.dot_products() + 2.0 * (n.queries + n.keys) * n.d_k * n.d_k, 2.0 * n.pairs * n.d_k};
}
/// q − k, squared and summed; 1 + r², ln, the sign.
ScoreCost student_t_cost(const ScoreSizes& n) {
    return {n.dot_products(), n.pairs * (n.d_k + 3.0)};
}
/// The bias of a distance is added.
ScoreCost relative_cost(const ScoreSizes& n) { return {n.dot_products(), n.pairs}; }

// ---- growth of the error of q·k

constexpr double kSmallProduct = 1e-3;  // in place of ‖q‖‖k‖ near 0

double dot_growth(const ScoreNorms&) { return 1.0; }
/// Of vectors of length 1.
double cosine_growth(const ScoreNorms& n) {
    return 4.0 / std::max(n.q * n.k, std::numeric_limits<double>::min());
}
double general_growth(const ScoreNorms& n) {
    return 4.0 * (1.0 + largest_row_sum(n.params[Param::w_score]));
}
double additive_growth(const ScoreNorms& n) {
    const auto sum = [&](Param param) { return largest_row_sum(n.params[param]); };
    return (1.0 + 1.0 / std::max(n.q * n.k, kSmallProduct)) * (1.0 + n.q + n.k) * 4.0 *
           (1.0 + sum(Param::w_score_q) + sum(Param::w_score_k)) * (1.0 + sum(Param::w_score_row));
}
/// ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖²
double student_t_growth(const ScoreNorms& n) {
    return 4.0 * (n.q + n.k) * (n.q + n.k) / std::max(n.q * n.k, kSmallProduct);
}
double relative_growth(const ScoreNorms& n) {
    return 4.0 *
           (1.0 + largest_finite(n.params[Param::b_score]) / std::max(n.q * n.k, kSmallProduct));
}

// clang-format off
constexpr std::array<ScoreInfo, kScoreCount> kScores{
    ScoreInfo{Score::dot, "dot", "Dot product",
              R"(\mathrm{scores}_{i,j} = q_i \cdot k_j)",
              "The cosine of the angle between query and key, times both norms.",
              "Vaswani et al. 2017, arXiv:1706.03762, §3.2", {},
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q_i)",
              dot_cost, dot_growth},
    ScoreInfo{Score::cosine, "cosine", "Cosine",
              R"(\mathrm{scores}_{i,j} = \frac{q_i \cdot k_j}{|q_i| \, |k_j|})",
              "The cosine of the angle between query and key; their norms do not count.",
              "Henry et al. 2020, arXiv:2010.04245", {},
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot (\frac{k_j}{|q_i| \, |k_j|} - \mathrm{scores}_{i,j} \cdot \frac{q_i}{|q_i|^2}))",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot (\frac{q_i}{|q_i| \, |k_j|} - \mathrm{scores}_{i,j} \cdot \frac{k_j}{|k_j|^2}))",
              cosine_cost, cosine_growth},
    ScoreInfo{Score::general, "general", "General (bilinear)",
              R"(\mathrm{scores}_{i,j} = q_i \, W_{\mathrm{score}} \, k_j)",
              "A learned matrix says which directions of a query match which directions of a key.",
              "Luong et al. 2015, arXiv:1508.04025, §3.1", kGeneralParams,
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score}} \, k_j)",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, q_i \, W_{\mathrm{score}})",
              general_cost, general_growth},
    ScoreInfo{Score::additive, "additive", "Additive",
              R"(\mathrm{scores}_{i,j} = w_{\mathrm{score}} \cdot \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
              "A small network with one hidden layer scores each pair.",
              "Bahdanau et al. 2015, arXiv:1409.0473, A.1.2", kAdditiveParams,
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score},q} \, (w_{\mathrm{score}} \circ (1 - h_{i,j}^2)), \; h_{i,j} = \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \, W_{\mathrm{score},k} \, (w_{\mathrm{score}} \circ (1 - h_{i,j}^2)), \; h_{i,j} = \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
              additive_cost, additive_growth},
    ScoreInfo{Score::student_t, "student_t", "Student t",
              R"(\mathrm{scores}_{i,j} = -\ln(1 + |q_i - k_j|^2))",
              "Keys nearer to the query get higher scores; distant keys keep more weight than with a Gaussian.",
              "van der Maaten & Hinton 2008, Visualizing Data using t-SNE, JMLR 9, §3.3", {},
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot \frac{2 (k_j - q_i)}{1 + |q_i - k_j|^2})",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}} \cdot \frac{2 (q_i - k_j)}{1 + |q_i - k_j|^2})",
              student_t_cost, student_t_growth},
    ScoreInfo{Score::relative, "relative", "Dot product + distance",
              R"(\mathrm{scores}_{i,j} = q_i \cdot k_j + b_{\mathrm{score},h,j-i})",
              "The dot product of query and key, plus a learned bias for their distance.",
              "Raffel et al. 2020, arXiv:1910.10683, §2.1", kRelativeParams,
              R"(\frac{\partial L}{\partial q_i} = \sum_j \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,k_j)",
              R"(\frac{\partial L}{\partial k_j} = \sum_i \frac{\partial L}{\partial \mathrm{scores}_{i,j}}\,q_i)",
              relative_cost, relative_growth},
};
// clang-format on

constexpr bool table_is_in_enum_order() {
    for (std::size_t n = 0; n < kScores.size(); ++n)
        if (static_cast<std::size_t>(kScores[n].score) != n) return false;
    return true;
}
static_assert(table_is_in_enum_order());

template <class Scalar>
score::Function<Scalar> function_of(Score score) {
    switch (score) {
        case Score::dot:
            return {};
        case Score::cosine:
            return score::cosine<Scalar>();
        case Score::general:
            return score::general<Scalar>();
        case Score::additive:
            return score::additive<Scalar>();
        case Score::student_t:
            return score::student_t<Scalar>();
        case Score::relative:
            return score::relative<Scalar>();
    }
    return {};
}

template <class Scalar>
TensorOf<Scalar> times(double factor, TensorOf<Scalar> x) {
    for (Scalar& value : x.values())
        value = static_cast<Scalar>(factor * static_cast<double>(value));
    return x;
}

}  // namespace

std::span<const ScoreInfo> score_table() { return kScores; }
const ScoreInfo& info(Score score) { return kScores[static_cast<std::size_t>(score)]; }
bool is_dot(Score score) { return function_of<float>(score).products == nullptr; }

std::vector<Feature> features(const AttentionSpec& spec, const Params& params,
                              std::initializer_list<std::string_view> but) {
    const std::pair<bool, Feature> all[] = {
        {spec.score != Score::dot, {info(spec.score).key, info(spec.score).title}},
        {spec.scale == ScaleKind::q_and_k, {"scale q_and_k", "A scale of queries and keys"}},
        {spec.qk_norm.has_value(), {"qk_norm", "QK-norm"}},
        {spec.rope.has_value(), {"rope", "RoPE"}},
        {spec.softcap.has_value(), {"softcap", "Soft cap"}},
        {spec.alibi, {"alibi", "ALiBi"}},
        {spec.mask.bias != nullptr, {"bias", "A bias"}},
        {!params[Param::sinks].empty(), {"sinks", "Sinks"}},
        {spec.mask.window_left.has_value(), {"window_left", "A window with sides"}},
        {spec.mask.window_right.has_value(), {"window_right", "A window with sides"}},
        {spec.mask.global_tokens > 0, {"global_tokens", "Global tokens"}},
        {spec.query_offset.has_value(), {"query_offset", "A query offset"}},
    };
    std::vector<Feature> found;
    for (const auto& [is_on, feature] : all)
        if (is_on && std::ranges::find(but, feature.key) == but.end()) found.push_back(feature);
    return found;
}

double operand_factor(const AttentionSpec& spec, Index d_k) {
    return spec.scale == ScaleKind::q_and_k ? std::pow(static_cast<double>(d_k), -0.25) : 1.0;
}

double product_factor(const AttentionSpec& spec, Index d_k) {
    const double each = operand_factor(spec, d_k);
    return score_factor(spec, d_k) * each * each;
}

template <class Scalar>
OperandsOf<Scalar> make_operands(const AttentionSpec& spec, const ParamsOf<Scalar>& params,
                                 const TensorOf<Scalar>& q, const TensorOf<Scalar>& k) {
    if (spec.scale == ScaleKind::q_and_k) {  // of the dot product alone
        const double factor = operand_factor(spec, q.shape().d);
        return {times(factor, q), times(factor, k)};
    }
    const auto make = function_of<Scalar>(spec.score).operands;
    return make ? make(params, q, k) : OperandsOf<Scalar>{};
}

template <class Scalar>
void operands_backward(const CallOf<Scalar>& call, const TensorOf<Scalar>& q,
                       const TensorOf<Scalar>& k, OperandsOf<Scalar>& d,
                       ParamsOf<Scalar>& d_params) {
    if (call.spec().scale == ScaleKind::q_and_k) {
        const double factor = operand_factor(call.spec(), q.shape().d);
        d = {times(factor, std::move(d.q)), times(factor, std::move(d.k))};
    }
    if (const auto back = function_of<Scalar>(call.spec().score).operands_backward)
        back(call.inputs().params, q, k, d, d_params);
}

template <class Scalar>
void pair_products(const CallOf<Scalar>& call, QueryRows rows, MatrixView<const Scalar> q,
                   MatrixView<const Scalar> k, MatrixView<Scalar> scores) {
    const auto products = function_of<Scalar>(call.spec().score).products;
    ATTN_CHECK(products, "dot products go through the kernels' own");
    products(call.inputs().params, rows, q, k, scores);
}

template <class Scalar>
void pair_products_backward(const CallOf<Scalar>& call, QueryRows rows, MatrixView<const Scalar> q,
                            MatrixView<const Scalar> k, MatrixView<const Scalar> d_scores,
                            MatrixView<Scalar> d_q, MatrixView<Scalar> d_k,
                            ParamsOf<Scalar>& d_params) {
    const auto back = function_of<Scalar>(call.spec().score).products_backward;
    ATTN_CHECK(back, "dot products go through the kernels' own");
    back(call.inputs().params, rows, q, k, d_scores, d_q, d_k, d_params);
}

double PairRule::biased(double scaled, Index p, Index j, double bias) const {
    const double given = bias_first ? scaled + bias : scaled;
    const double capped = cap == 0.0 ? given : cap * std::tanh(given / cap);
    const double sum = bias_first || bias == 0.0 ? capped : capped + bias;
    return slope == 0.0 ? sum : sum - slope * static_cast<double>(std::abs(p - j));
}

double PairRule::derivative(double scaled, double bias) const {
    if (cap == 0.0) return 1.0;
    // 1 − tanh² x as 4 z / (1 + z)², z = e^(−2 |x|): a difference from 1 would lose the digits of a small slope.
    const double z = std::exp(-2.0 * std::abs((bias_first ? scaled + bias : scaled) / cap));
    return 4.0 * z / ((1.0 + z) * (1.0 + z));
}

NearPosition near_position(Index p, const Dimensions& size) {
    const Index position = std::clamp(p, Index{0}, size.tk - 1);
    return {position, std::abs(p - position)};
}

PairRule pair_rule(const AttentionSpec& spec, const Dimensions& size, Index h) {
    return {spec.softcap.value_or(0.0), spec.alibi ? alibi_slope(h, size.heads) : 0.0,
            spec.bias_before_softcap};
}

#define ATTN_SCORE_FOR(Scalar)                                                                   \
    template OperandsOf<Scalar> make_operands(const AttentionSpec&, const ParamsOf<Scalar>&,     \
                                              const TensorOf<Scalar>&, const TensorOf<Scalar>&); \
    template void operands_backward(const CallOf<Scalar>&, const TensorOf<Scalar>&,              \
                                    const TensorOf<Scalar>&, OperandsOf<Scalar>&,                \
                                    ParamsOf<Scalar>&);                                          \
    template void pair_products(const CallOf<Scalar>&, QueryRows, MatrixView<const Scalar>,      \
                                MatrixView<const Scalar>, MatrixView<Scalar>);                   \
    template void pair_products_backward(                                                        \
        const CallOf<Scalar>&, QueryRows, MatrixView<const Scalar>, MatrixView<const Scalar>,    \
        MatrixView<const Scalar>, MatrixView<Scalar>, MatrixView<Scalar>, ParamsOf<Scalar>&);
ATTN_SCORE_FOR(float)
ATTN_SCORE_FOR(double)
#undef ATTN_SCORE_FOR

}  // namespace attn
