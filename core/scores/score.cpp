#include "core/scores/score.h"

#include <array>
#include <cmath>

#include "core/scores/functions.h"

namespace attn {
namespace {

constexpr std::array kGeneralParams{Param::w_score};
constexpr std::array kAdditiveParams{Param::w_score_q, Param::w_score_k, Param::w_score_row};

// clang-format off
constexpr std::array kScores{
    ScoreInfo{Score::dot, "dot", "Dot product",
              R"(\mathrm{scores}_{i,j} = q_i \cdot k_j)",
              "How well a key matches a query, times how long both are.",
              "Vaswani et al. 2017, arXiv:1706.03762, §3.2", {}, true},
    ScoreInfo{Score::cosine, "cosine", "Cosine",
              R"(\mathrm{scores}_{i,j} = \frac{q_i \cdot k_j}{|q_i| \, |k_j|})",
              "The angle between query and key alone: their lengths do not count.",
              "Henry et al. 2020, arXiv:2010.04245", {}, true},
    ScoreInfo{Score::general, "general", "General (bilinear)",
              R"(\mathrm{scores}_{i,j} = q_i \, W_{\mathrm{score}} \, k_j)",
              "A learned matrix says which direction of a query looks for which direction of a key.",
              "Luong et al. 2015, arXiv:1508.04025, §3.1", kGeneralParams, true},
    ScoreInfo{Score::additive, "additive", "Additive",
              R"(\mathrm{scores}_{i,j} = w_{\mathrm{score}} \cdot \tanh(q_i \, W_{\mathrm{score},q} + k_j \, W_{\mathrm{score},k}))",
              "A small network with one hidden layer rates each pair.",
              "Bahdanau et al. 2015, arXiv:1409.0473, A.1.2", kAdditiveParams, false},
};
// clang-format on

constexpr bool table_is_in_enum_order() {
    for (std::size_t n = 0; n < kScores.size(); ++n)
        if (static_cast<std::size_t>(kScores[n].score) != n) return false;
    return true;
}
static_assert(table_is_in_enum_order());

}  // namespace

std::span<const ScoreInfo> score_table() { return kScores; }
const ScoreInfo& info(Score score) { return kScores[static_cast<std::size_t>(score)]; }

template <class Scalar>
OperandsOf<Scalar> make_operands(const CallOf<Scalar>& call, const TensorOf<Scalar>& q,
                                 const TensorOf<Scalar>& k) {
    const ParamsOf<Scalar>& params = call.inputs().params;
    switch (call.spec().score) {
        case Score::dot:
            return {};
        case Score::cosine:
            return {score::unit_rows(q), score::unit_rows(k)};
        case Score::general:
            return {score::rows_times(q, params[Param::w_score]), {}};
        case Score::additive:
            return {score::rows_times(q, params[Param::w_score_q]),
                    score::rows_times(k, params[Param::w_score_k])};
    }
    return {};
}

template <class Scalar>
void operands_backward(const CallOf<Scalar>& call, const TensorOf<Scalar>& q,
                       const TensorOf<Scalar>& k, OperandsOf<Scalar>& d,
                       ParamsOf<Scalar>& d_params) {
    const ParamsOf<Scalar>& params = call.inputs().params;
    const auto through = [&](const TensorOf<Scalar>& x, Param weight, TensorOf<Scalar>& d_x) {
        d_x = score::rows_times_backward(x, params[weight], d_x, d_params[weight]);
    };
    switch (call.spec().score) {
        case Score::dot:
            return;
        case Score::cosine:
            d.q = score::unit_rows_backward(q, d.q);
            d.k = score::unit_rows_backward(k, d.k);
            return;
        case Score::general:
            return through(q, Param::w_score, d.q);
        case Score::additive:
            through(q, Param::w_score_q, d.q);
            return through(k, Param::w_score_k, d.k);
    }
}

template <class Scalar>
void pair_products(const CallOf<Scalar>& call, MatrixView<const Scalar> q,
                   MatrixView<const Scalar> k, MatrixView<Scalar> scores) {
    switch (call.spec().score) {
        case Score::dot:
        case Score::cosine:
        case Score::general:
            break;
        case Score::additive:
            return score::tanh_sums(q, k, call.inputs().params[Param::w_score_row], scores);
    }
    ATTN_CHECK(false, "a score whose product is the dot product goes through the kernels' own");
}

template <class Scalar>
void pair_products_backward(const CallOf<Scalar>& call, MatrixView<const Scalar> q,
                            MatrixView<const Scalar> k, MatrixView<const Scalar> d_scores,
                            MatrixView<Scalar> d_q, MatrixView<Scalar> d_k,
                            ParamsOf<Scalar>& d_params) {
    switch (call.spec().score) {
        case Score::dot:
        case Score::cosine:
        case Score::general:
            break;
        case Score::additive:
            return score::tanh_sums_backward(q, k, call.inputs().params[Param::w_score_row],
                                             d_scores, d_q, d_k, d_params[Param::w_score_row]);
    }
    ATTN_CHECK(false, "a score whose product is the dot product goes through the kernels' own");
}

double PairRule::biased(double scaled, Index p, Index j) const {
    const double capped = cap == 0.0 ? scaled : cap * std::tanh(scaled / cap);
    return slope == 0.0 ? capped : capped - slope * static_cast<double>(std::abs(p - j));
}

double PairRule::derivative(double scaled) const {
    if (cap == 0.0) return 1.0;
    const double t = std::tanh(scaled / cap);
    return 1.0 - t * t;
}

PairRule pair_rule(const AttentionSpec& spec, const Dimensions& size, Index h) {
    return {spec.softcap.value_or(0.0), spec.alibi ? alibi_slope(h, size.heads) : 0.0};
}

#define ATTN_SCORE_FOR(Scalar)                                                                \
    template OperandsOf<Scalar> make_operands(const CallOf<Scalar>&, const TensorOf<Scalar>&, \
                                              const TensorOf<Scalar>&);                       \
    template void operands_backward(const CallOf<Scalar>&, const TensorOf<Scalar>&,           \
                                    const TensorOf<Scalar>&, OperandsOf<Scalar>&,             \
                                    ParamsOf<Scalar>&);                                       \
    template void pair_products(const CallOf<Scalar>&, MatrixView<const Scalar>,              \
                                MatrixView<const Scalar>, MatrixView<Scalar>);                \
    template void pair_products_backward(                                                     \
        const CallOf<Scalar>&, MatrixView<const Scalar>, MatrixView<const Scalar>,            \
        MatrixView<const Scalar>, MatrixView<Scalar>, MatrixView<Scalar>, ParamsOf<Scalar>&);
ATTN_SCORE_FOR(float)
ATTN_SCORE_FOR(double)
#undef ATTN_SCORE_FOR

}  // namespace attn
