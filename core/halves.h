#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace attn {

// Floats of 16 bits, as files hold them. Each is a float32 as well: widening rounds nothing.

/// IEEE 754 binary16, or bfloat16: the upper half of a float32.
enum class HalfFormat : std::uint8_t { float16, bfloat16 };

/// (−1)^s · 2^(e − 15) · (1 + f / 2^10); e = 0: (−1)^s · f / 2^24; e = 31: ±inf, or a quiet NaN of the same sign.
inline float from_half(std::uint16_t half) {
    const std::uint32_t bits = half;
    const std::uint32_t exponent = bits & 0x7C00U;
    const std::uint32_t fraction = bits & 0x03FFU;
    // 2^-14 (1 + f / 2^10) − 2^-14: no float32 is subnormal on the way.
    const float small = std::bit_cast<float>(0x3880'0000U | fraction << 13U) - 0x1p-14F;
    const std::uint32_t normal = ((bits & 0x7FFFU) << 13U) + 0x3800'0000U;  // 127 − 15 = 112 up
    const std::uint32_t endless = fraction == 0 ? 0x7F80'0000U : 0x7FC0'0000U;
    const std::uint32_t magnitude = exponent == 0         ? std::bit_cast<std::uint32_t>(small)
                                    : exponent == 0x7C00U ? endless
                                                          : normal;
    return std::bit_cast<float>(magnitude | (bits & 0x8000U) << 16U);
}

inline float from_bfloat16(std::uint16_t half) {
    return std::bit_cast<float>(std::uint32_t{half} << 16U);
}

inline float widened(std::uint16_t half, HalfFormat format) {
    return format == HalfFormat::bfloat16 ? from_bfloat16(half) : from_half(half);
}

/// to[i] = from[i]; `to` is as long.
inline void widen(std::span<const std::uint16_t> from, HalfFormat format, std::span<float> to) {
    if (format == HalfFormat::bfloat16)
        std::ranges::transform(from, to.begin(),
                               [](std::uint16_t half) { return from_bfloat16(half); });
    else
        std::ranges::transform(from, to.begin(),
                               [](std::uint16_t half) { return from_half(half); });
}

}  // namespace attn
