#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/sizes.h"

namespace attn {

/// Numbers of float32 as integers of 24 bits, in three signed digits of base 256: a[k] = scales[k / 16] (65536 h + 256 m + l).
/// An integer differs from its number by at most 10⁻⁷ of the largest of its 16, about as much as a product of float32 rounds.
struct DigitRow {
    std::vector<std::int8_t> digits;  // for each 64 numbers 64 h, 64 m, 64 l
    std::vector<float> scales, sums;  // of each 16 numbers
};

/// Nothing on a processor without AVX-512 VNNI, and nothing for a number that is not finite. Numbers come in blocks of 256.
std::optional<DigitRow> digit_row(std::span<const float> numbers);

/// Σ of the numbers of `count` blocks times those of `a`.
using DigitDot = float (*)(const unsigned char* blocks, Index count, const DigitRow& a);

#if defined(__x86_64__)
float dot_q4_k(const unsigned char* blocks, Index count, const DigitRow& a);
float dot_q6_k(const unsigned char* blocks, Index count, const DigitRow& a);
inline constexpr DigitDot kDotQ4K = dot_q4_k, kDotQ6K = dot_q6_k;
#else
inline constexpr DigitDot kDotQ4K = nullptr, kDotQ6K = nullptr;
#endif

}  // namespace attn
