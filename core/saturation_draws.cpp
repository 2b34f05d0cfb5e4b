#include "core/saturation_draws.h"

#include <algorithm>
#include <numeric>

#include "core/rng.h"

namespace attn {
namespace {

constexpr Index kBlock = static_cast<Index>(kNormalBlock);

}  // namespace

GrowingScores::GrowingScores(const SaturationSettings& settings, Index trial)
    : draw_(mix(settings.seed, static_cast<std::uint64_t>(trial))),
      sums_(static_cast<std::size_t>(settings.keys)) {}

std::optional<std::vector<double>> GrowingScores::grow_to(Index d_k, const std::stop_token& stop) {
    while (width_ < d_k) {
        if (stop.stop_requested()) return std::nullopt;
        const Index end = std::min(d_k, (width_ / kBlock + 1) * kBlock);
        add_components(end);
        width_ = end;
    }
    std::vector<double> z;
    for (const Lanes& lanes : sums_) z.push_back(std::accumulate(lanes.begin(), lanes.end(), 0.0));
    return z;
}

/// Components width_ to `end`, all of one block.
void GrowingScores::add_components(Index end) {
    const auto block = static_cast<std::uint64_t>(width_ / kBlock);
    const auto first = static_cast<std::size_t>(width_ % kBlock);
    const std::size_t last = first + static_cast<std::size_t>(end - width_);
    NormalBlock q, k;
    fill_normal_block(mix(draw_, 0), block, q);
    for (std::size_t j = 0; j < sums_.size(); ++j) {
        fill_normal_block(mix(draw_, j + 1), block, k);
        add_products(q, k, first, last, sums_[j]);
    }
}

void GrowingScores::add_products(const NormalBlock& q, const NormalBlock& k, std::size_t first,
                                 std::size_t last, Lanes& sum) {
    const auto add = [&](std::size_t c) {
        sum[c % 8] += static_cast<double>(q[c]) * static_cast<double>(k[c]);
    };
    for (; first < last && first % 8 != 0; ++first) add(first);
    for (; first + 8 <= last; first += 8)
        for (std::size_t lane = 0; lane < 8; ++lane) add(first + lane);
    for (; first < last; ++first) add(first);
}

}  // namespace attn
