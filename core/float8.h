#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/halves.h"

namespace attn {

// Floats of 8 bits. Each is a float32 as well: widening rounds nothing. Source: OCP 8-bit Floating Point Specification 1.0 (2023),
// table 1; Micikevicius et al. 2022, arXiv:2209.05433.

/// E4M3, torch.float8_e4m3fn: (−1)^s · 2^(e − 7) · (1 + f / 2^3), at most 448; e = 0: (−1)^s · f / 2^9. No infinity: e = 15 and f = 7
/// is NaN, and other f are numbers.
inline float from_e4m3(std::uint8_t code) {
    const int exponent = code >> 3 & 15;
    const int fraction = code & 7;
    float magnitude = std::ldexp(static_cast<float>(8 + fraction), exponent - 10);
    if (exponent == 0) magnitude = std::ldexp(static_cast<float>(fraction), -9);
    if (exponent == 15 && fraction == 7) magnitude = std::numeric_limits<float>::quiet_NaN();
    return std::copysign(magnitude, (code & 0x80) != 0 ? -1.0F : 1.0F);
}

/// E5M2, torch.float8_e5m2: the upper half of a binary16, with its infinity and NaN; at most 57344.
inline float from_e5m2(std::uint8_t code) {
    return from_half(static_cast<std::uint16_t>(code << 8U));
}

/// E8M0, torch.float8_e8m0fnu: 2^(e − 127); 255 is NaN. Scales of blocks of 32 codes in MXFP8. Source: OCP Microscaling Formats
/// Specification 1.0 (2023), section 5.4.1.
inline float from_e8m0(std::uint8_t code) {
    return code == 255 ? std::numeric_limits<float>::quiet_NaN()
                       : std::ldexp(1.0F, static_cast<int>(code) - 127);
}

/// E2M1 of the lower four bits: 0, 0.5, 1, 1.5, 2, 3, 4, 6, and the same with a minus sign. Codes of NVFP4 and MXFP4. Source: the same,
/// section 5.3.3.
inline float from_e2m1(std::uint8_t code) {
    constexpr float kMagnitudes[] = {0.0F, 0.5F, 1.0F, 1.5F, 2.0F, 3.0F, 4.0F, 6.0F};
    return std::copysign(kMagnitudes[code & 7], (code & 8) != 0 ? -1.0F : 1.0F);
}

}  // namespace attn
