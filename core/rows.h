#pragma once

#include <bit>
#include <cstdint>
#include <ranges>
#include <span>

namespace attn {

/// Σ a_c b_c over the entries of two rows of one length, each product and the sum in float64.
template <std::ranges::contiguous_range A, std::ranges::contiguous_range B>
double dot(const A& a, const B& b) {
    const auto* const x = std::ranges::data(a);
    const auto* const y = std::ranges::data(b);
    double sum = 0.0;
    for (std::size_t c = 0; c < std::ranges::size(a); ++c)
        sum += static_cast<double>(x[c]) * static_cast<double>(y[c]);
    return sum;
}

/// Whether no entry is NaN or inf: their exponent bits are all set.
inline bool all_finite(std::span<const float> values) {
    constexpr std::uint32_t kExponent = 0x7F80'0000U;
    std::uint32_t bad = 0;
    for (const float value : values)
        bad |= static_cast<std::uint32_t>((std::bit_cast<std::uint32_t>(value) & kExponent) ==
                                          kExponent);
    return bad == 0;
}

}  // namespace attn
