#pragma once

#include <bit>
#include <cstdint>

namespace attn {

/// The nearest binary16, of two the one with an even fraction; ±inf beyond 65504 + 16, a quiet NaN of NaN.
inline std::uint16_t to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16U & 0x8000U, magnitude = bits & 0x7FFF'FFFFU;
    std::uint32_t half = 0;
    if (magnitude > 0x7F80'0000U)
        half = 0x7E00U;
    else if (magnitude >= 0x4780'0000U)  // 2^16 and more
        half = 0x7C00U;
    else if (magnitude < 0x3880'0000U)  // below 2^-14: adding 1/2 leaves the subnormal's fraction
        half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3F00'0000U;
    else
        half = (magnitude + 0xFFFU + (magnitude >> 13U & 1U) - 0x3800'0000U) >> 13U;
    return static_cast<std::uint16_t>(half | sign);
}

}  // namespace attn
