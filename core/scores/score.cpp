#include "core/scores/score.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "core/call.h"
#include "core/scores/functions.h"
#include "core/scores/pair_rule.h"
#include "core/spec_arrays.h"

namespace attn {

namespace {

#define ATTN_ROW(name) &score::name##_row,
constexpr std::array<const score::Row*, kScoreCount> kRows{ATTN_SCORES(ATTN_ROW)};
#undef ATTN_ROW
#define ATTN_KEY(name) #name,
constexpr std::array<std::string_view, kScoreCount> kKeys{ATTN_SCORES(ATTN_KEY)};
#undef ATTN_KEY

std::array<ScoreInfo, kScoreCount> make_table() {
    std::array<ScoreInfo, kScoreCount> table;
    for (std::size_t n = 0; n < kScoreCount; ++n) {
        table[n] = kRows[n]->info;
        table[n].score = static_cast<Score>(n);
        table[n].key = kKeys[n];
    }
    return table;
}

template <class Scalar>
const score::Function<Scalar>& function_of(Score score) {
    const score::Row& row = *kRows[static_cast<std::size_t>(score)];
    if constexpr (std::is_same_v<Scalar, float>)
        return row.of_float;
    else
        return row.of_double;
}

template <class Scalar>
TensorOf<Scalar> times(double factor, TensorOf<Scalar> x) {
    for (Scalar& value : x.values())
        value = static_cast<Scalar>(factor * static_cast<double>(value));
    return x;
}

}  // namespace

std::span<const ScoreInfo> score_table() {
    static const std::array<ScoreInfo, kScoreCount> table = make_table();
    return table;
}
const ScoreInfo& info(Score score) { return score_table()[static_cast<std::size_t>(score)]; }
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
