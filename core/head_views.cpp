#include "core/head_views.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/spec.h"
#include "core/tensor.h"

namespace attn {
namespace {

using enum HeadShow;

constexpr std::array<HeadShowInfo, kHeadShowCount> kShows{{
    {weights, "weights", "α", "α = softmax of the masked scores over keys",
     "A weight says where a head looks, not why the output has its value. Other weights may give "
     "the same output; this alone does not make the weights meaningless.",
     "Jain and Wallace 2019, arXiv:1902.10186; Wiegreffe and Pinter 2019, arXiv:1908.04626", ""},
    {value_norm, "value_norm", "α‖v‖", "α_ij ‖v_j‖₂",
     "Measures the length of each value before W_O, which may shrink it to 0. Values that "
     "cancel in the sum still count.",
     "after Kobayashi et al. 2020, arXiv:2004.10102, who measure after W_O", "values"},
    {output_norm, "output_norm", "α‖vW_O‖", "α_ij ‖v_j W_O‖₂, W_O the head's rows",
     "Long vectors of two keys may cancel in the sum, and the residual stream is left out.",
     "Kobayashi et al. 2020, arXiv:2004.10102", "W_O and values"},
    {gradient, "gradient", "α × gradient", "α_ij ∂L/∂α_ij",
     "First order, signed, and only for this L. The other weights of the row stay fixed, "
     "although softmax would change them.",
     "Barkan et al. 2021, arXiv:2204.11073, take α · max(∂L/∂α, 0); Chefer et al. 2021, "
     "arXiv:2012.09838, multiply the gradient with relevance in place of α",
     "a gradient of the weights", true},
    {rollout, "rollout", "rollout",
     "R_n = Â_n R_{n−1}, Â = ½ mean over heads of α + ½ I, rows over their sum",
     "Assumes equal weight for attention and the residual; ignores values, W_O and the MLP.",
     "Abnar and Zuidema 2020, arXiv:2005.00928", "as many queries as keys in every layer up to it",
     false, true},
}};

bool may(AllowedPairs allowed, Index at) { return allowed.empty() || allowed[at] != 0; }

double squares_of(std::span<const float> row) {
    double sum = 0.0;
    for (const float value : row) sum += double{value} * value;
    return sum;
}

/// Σ over columns of (row W)², W row by row, as it lies in memory.
double mapped_squares(std::span<const float> row, MatrixView<const float> w) {
    std::vector<double> mapped(w.columns, 0.0);
    for (Index d = 0; d < w.rows; ++d) {
        const double value = row[d];
        const std::span<const float> weights = w.row(d);
        for (std::size_t column = 0; column < mapped.size(); ++column)
            mapped[column] += value * weights[column];
    }
    double sum = 0.0;
    for (const double value : mapped) sum += value * value;
    return sum;
}

/// weights(i, j) · factor(i, j) where the pair is allowed.
template <class Factor>
std::vector<float> times(MatrixView<const float> weights, AllowedPairs allowed,
                         const Factor& factor) {
    std::vector<float> values(weights.rows * weights.columns, 0.0F);
    for (Index i = 0; i < weights.rows; ++i)
        for (Index j = 0; j < weights.columns; ++j)
            if (const Index at = i * weights.columns + j; may(allowed, at))
                values[at] = static_cast<float>(double{weights(i, j)} * factor(i, j));
    return values;
}

}  // namespace

std::span<const HeadShowInfo, kHeadShowCount> head_show_table() { return kShows; }

std::span<const std::string_view, kHeadShowCount> head_show_keys() {
    static constexpr auto kKeys = [] {
        std::array<std::string_view, kHeadShowCount> keys;
        for (std::size_t n = 0; n < keys.size(); ++n) keys[n] = kShows[n].key;
        return keys;
    }();
    return kKeys;
}

const HeadShowInfo& info(HeadShow show) { return kShows[static_cast<std::size_t>(show)]; }

std::optional<HeadShow> find_head_show(std::string_view key) {
    const auto found = std::ranges::find(kShows, key, &HeadShowInfo::key);
    if (found == kShows.end()) return std::nullopt;
    return found->show;
}

std::vector<double> row_norms(MatrixView<const float> v, MatrixView<const float> w) {
    std::vector<double> norms;
    norms.reserve(v.rows);
    for (Index j = 0; j < v.rows; ++j)
        norms.push_back(
            std::sqrt(w.rows == 0 ? squares_of(v.row(j)) : mapped_squares(v.row(j), w)));
    return norms;
}

std::vector<float> times_norms(MatrixView<const float> weights, std::span<const double> norms,
                               AllowedPairs allowed) {
    return times(weights, allowed, [&](Index, Index j) { return norms[j]; });
}

std::vector<float> times_gradient(MatrixView<const float> weights, MatrixView<const float> gradient,
                                  AllowedPairs allowed) {
    return times(weights, allowed, [&](Index i, Index j) { return gradient(i, j); });
}

std::vector<double> mean_weights(const Tensor& weights, Index batch) {
    const Index heads = weights.shape().h;
    std::vector<double> mean(weights.shape().t * weights.shape().d, 0.0);
    for (Index head = 0; head < heads; ++head) {
        const MatrixView<const float> one = weights.matrix(batch, head);
        for (Index i = 0; i < one.rows; ++i)
            for (Index j = 0; j < one.columns; ++j) mean[i * one.columns + j] += one(i, j);
    }
    for (double& value : mean) value /= static_cast<double>(heads);
    return mean;
}

std::vector<double> rollout_after(const std::vector<double>& before,
                                  const std::vector<double>& mean, Index tokens) {
    const auto T = static_cast<std::size_t>(tokens);
    std::vector<double> after(T * T, 0.0);
    std::vector<double> mixed(T);
    for (std::size_t i = 0; i < T; ++i) {
        double sum = 0.0;
        for (std::size_t j = 0; j < T; ++j) {
            mixed[j] = 0.5 * mean[i * T + j] + (i == j ? 0.5 : 0.0);
            sum += mixed[j];
        }
        for (std::size_t j = 0; j < T; ++j) {
            const double share = mixed[j] / sum;
            if (share == 0.0) continue;
            if (before.empty()) {
                after[i * T + j] += share;
                continue;
            }
            for (std::size_t n = 0; n < T; ++n) after[i * T + n] += share * before[j * T + n];
        }
    }
    return after;
}

std::vector<float> products_by_dimension(std::span<const float> q, MatrixView<const float> k) {
    std::vector<float> products;
    products.reserve(k.rows * k.columns);
    for (Index j = 0; j < k.rows; ++j)
        for (Index d = 0; d < k.columns; ++d)
            products.push_back(static_cast<float>(double{q[d]} * k(j, d)));
    return products;
}

std::vector<TurnedDimension> turned_dimensions(Index width, Index turned, const Rope& rope) {
    std::vector<TurnedDimension> order;
    const Index pairs = turned / 2;
    const bool half = rope.pairs == RopePairs::half;
    for (Index c = 0; c < pairs; ++c) {
        const Index first = half ? c : 2 * c;
        const Index second = half ? c + pairs : 2 * c + 1;
        const double frequency = rope_frequency(rope, c, turned);
        order.push_back({first, frequency, second});
        order.push_back({second, frequency, first});
    }
    std::ranges::stable_sort(order, std::ranges::greater{}, &TurnedDimension::frequency);
    for (Index d = 2 * pairs; d < width; ++d) order.push_back({d, 0.0, -1});
    return order;
}

}  // namespace attn
