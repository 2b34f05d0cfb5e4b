#include "core/models/read_out.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>

#include "core/check.h"

namespace attn {

std::vector<double> probabilities(std::span<const float> logits) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    if (std::ranges::any_of(logits, [](float x) { return std::isnan(x) || x == kInfinity; }))
        return {};
    const auto most = std::ranges::max_element(logits);
    if (most == logits.end() || *most == -kInfinity) return {};
    std::vector<double> shares;
    shares.reserve(logits.size());
    for (const float x : logits) shares.push_back(std::exp(static_cast<double>(x) - *most));
    const double sum = std::reduce(shares.begin(), shares.end());
    for (double& share : shares) share /= sum;
    return shares;
}

double divergence(std::span<const double> p, std::span<const double> q) {
    if (p.empty() || q.empty()) return std::numeric_limits<double>::quiet_NaN();
    double sum = 0.0;
    for (std::size_t n = 0; n < p.size(); ++n)
        if (p[n] > 0.0) sum += p[n] * std::log(p[n] / q[n]);
    return std::max(sum, 0.0);
}

std::vector<TokenShare> likeliest(std::span<const float> logits, std::size_t count) {
    const std::vector<double> shares = probabilities(logits);
    std::vector<TokenShare> best(std::min(count, shares.size()));
    const auto all =
        std::views::iota(Index{0}, std::ssize(shares)) | std::views::transform([&](Index id) {
            return TokenShare{id, shares[id]};
        });
    std::ranges::partial_sort_copy(all, best, [](const TokenShare& a, const TokenShare& b) {
        if (a.probability != b.probability) return a.probability > b.probability;
        return a.id < b.id;
    });
    return best;
}

std::optional<double> cosine(std::span<const float> x, std::span<const float> y) {
    ATTN_CHECK(x.size() == y.size(), "vectors of one length are compared");
    double product = 0.0, xs = 0.0, ys = 0.0;
    for (std::size_t n = 0; n < x.size(); ++n) {
        product += static_cast<double>(x[n]) * y[n];
        xs += static_cast<double>(x[n]) * x[n];
        ys += static_cast<double>(y[n]) * y[n];
    }
    const double result = product / std::sqrt(xs * ys);
    if (!std::isfinite(result)) return std::nullopt;
    return std::clamp(result, -1.0, 1.0);
}

}  // namespace attn
