#include "core/models/sampling.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "core/rng.h"

namespace attn {
namespace {

/// Larger for a smaller logit; -0 is 0.
std::uint32_t descending(float logit) {
    const auto bits = std::bit_cast<std::uint32_t>(logit + 0.0F);
    return (bits >> 31U) != 0 ? bits : ~bits & 0x7FFF'FFFFU;
}

/// The largest first, of equal ones the lower id: a radix sort by 11 bits at a time, which takes a tenth of what comparisons
/// take for the 32,000 logits of each token.
std::vector<Candidate> in_order(std::span<const float> logits) {
    struct Key {
        std::uint32_t key, id;
    };
    constexpr std::uint32_t kBits = 11, kMask = (1U << kBits) - 1;
    std::vector<Key> keys(logits.size()), sorted(logits.size());
    for (std::size_t n = 0; n < keys.size(); ++n)
        keys[n] = {descending(logits[n]), static_cast<std::uint32_t>(n)};
    for (std::uint32_t shift = 0; shift < 32; shift += kBits) {
        std::array<std::size_t, kMask + 2> begins{};
        for (const Key& each : keys) ++begins[(each.key >> shift & kMask) + 1];
        std::partial_sum(begins.begin(), begins.end(), begins.begin());
        for (const Key& each : keys) sorted[begins[each.key >> shift & kMask]++] = each;
        keys.swap(sorted);
    }
    std::vector<Candidate> all;
    all.reserve(logits.size());
    for (const Key& each : keys)
        all.push_back({static_cast<Index>(each.id), logits[each.id], 0.0, 0.0, true});
    return all;
}

/// softmax of logits / temperature over the first `count`, into a member of each.
void put_shares(std::span<Candidate> all, double temperature, double Candidate::*into) {
    double sum = 0.0;
    for (Candidate& each : all)
        sum += each.*into = std::exp((each.logit - all.front().logit) / temperature);
    for (Candidate& each : all) each.*into /= sum;
}

/// How many of the first have a sum of `after` that reaches top_p; at least 1.
std::size_t nucleus(std::span<const Candidate> all, double top_p) {
    double sum = 0.0;
    std::size_t count = 0;
    while (count < all.size() && (count == 0 || sum < top_p)) sum += all[count++].after;
    return count;
}

}  // namespace

Result<void> check_sampling(const Sampling& how) {
    if (!(how.temperature >= 0.0) || std::isinf(how.temperature))
        return bad_input(fmt::format("temperature is {}; expected 0 (greedy) or a number above it",
                                     how.temperature));
    if (how.top_k && *how.top_k < 1)
        return bad_input(fmt::format("top-k is {}; expected at least 1", *how.top_k));
    if (how.top_p && !(*how.top_p >= 0.0 && *how.top_p <= 1.0))
        return bad_input(fmt::format("top-p is {}; expected a number from 0 to 1", *how.top_p));
    return {};
}

std::size_t Candidates::rank(Index id) const {
    return static_cast<std::size_t>(std::ranges::find(all, id, &Candidate::id) - all.begin());
}

Result<Candidates> candidates_of(std::span<const float> logits, const Sampling& how) {
    if (auto valid = check_sampling(how); !valid) return tl::unexpected(valid.error());
    if (logits.empty()) return bad_input("there is no logit to choose from");
    const auto wrong = std::ranges::find_if_not(logits, [](float x) { return std::isfinite(x); });
    if (wrong != logits.end())
        return bad_input(fmt::format("the logit of token {} is {}; expected a finite number",
                                     wrong - logits.begin(), *wrong));
    Candidates made{in_order(logits), 0};
    put_shares(made.all, 1.0, &Candidate::before);
    auto retained = how.greedy() ? std::size_t{1} : made.all.size();
    if (how.top_k) retained = std::min(retained, static_cast<std::size_t>(*how.top_k));
    const std::span<Candidate> all = made.all;
    const double temperature = how.greedy() ? 1.0 : how.temperature;
    put_shares(all.first(retained), temperature, &Candidate::after);
    if (how.top_p && *how.top_p < 1.0) {  // a sum can round to 1 before the last
        retained = nucleus(all.first(retained), *how.top_p);
        put_shares(all.first(retained), temperature, &Candidate::after);
    }
    for (Candidate& each : all.subspan(retained)) each.after = 0.0, each.retained = false;
    made.retained = static_cast<Index>(retained);
    return made;
}

std::size_t choose(const Candidates& candidates, double u) {
    double sum = 0.0;
    std::size_t last = 0;  // that has a share at all: rounding can leave the sum below u
    for (std::size_t n = 0; n < static_cast<std::size_t>(candidates.retained); ++n) {
        if (candidates.all[n].after > 0.0) last = n;
        sum += candidates.all[n].after;
        if (sum > u) return n;
    }
    return last;
}

double draw_of(const Sampling& how, std::uint64_t step) { return uniform(how.seed, step); }

}  // namespace attn
