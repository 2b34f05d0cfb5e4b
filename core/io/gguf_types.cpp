// Blocks of GGUF as numbers. Source: the formats of ggml, github.com/ggml-org/ggml, src/ggml-common.h (block_q8_0, block_q4_K,
// block_q6_K) and gguf-py/gguf/quants.py. Every product below is exact in float32 but the last, and so is every difference:
// each number is rounded once.

#include <algorithm>
#include <bit>

#include "core/halves.h"
#include "core/io/gguf.h"

namespace attn {
namespace {

using Byte = unsigned char;

std::uint16_t two(const Byte* at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }

void widen_f32(const Byte* block, float* to) {
    *to = std::bit_cast<float>(static_cast<std::uint32_t>(two(block)) |
                               static_cast<std::uint32_t>(two(block + 2)) << 16U);
}
void widen_f16(const Byte* block, float* to) { *to = from_half(two(block)); }
void widen_bf16(const Byte* block, float* to) { *to = from_bfloat16(two(block)); }

/// d, then 32 signed bytes: d q.
void widen_q8_0(const Byte* block, float* to) {
    const float d = from_half(two(block));
    for (int n = 0; n < 32; ++n)
        to[n] = d * static_cast<float>(static_cast<std::int8_t>(block[2 + n]));
}

/// d and m, 8 scales and 8 minima of 6 bits in 12 bytes, 256 numbers of 4 bits: d s q − m b. 32 numbers have a scale; each
/// 32 bytes hold those of two, in the lower halves and in the upper.
void widen_q4_k(const Byte* block, float* to) {
    const float d = from_half(two(block)), m = from_half(two(block + 2));
    const Byte *const packed = block + 4, *const codes = block + 16;
    for (int part = 0; part < 8; ++part) {
        int scale = 0, least = 0;
        if (part < 4) {
            scale = packed[part] & 63;
            least = packed[part + 4] & 63;
        } else {
            scale = (packed[part + 4] & 15) | (packed[part - 4] >> 6) << 4;
            least = (packed[part + 4] >> 4) | (packed[part] >> 6) << 4;
        }
        const float step = d * static_cast<float>(scale), shift = m * static_cast<float>(least);
        for (int n = 0; n < 32; ++n) {
            const int both = codes[32 * (part / 2) + n];
            const int code = part % 2 == 0 ? both & 15 : both >> 4;
            to[32 * part + n] = step * static_cast<float>(code) - shift;
        }
    }
}

/// 128 bytes of lower 4 bits, 64 of upper 2, 16 signed scales, d: d s (q − 32). Of each half of 128 numbers the quarters stand
/// in the two halves of 64 bytes; 16 numbers have a scale.
void widen_q6_k(const Byte* block, float* to) {
    const Byte *const lower = block, *const upper = block + 128, *const scales = block + 192;
    const float d = from_half(two(block + 208));
    for (int n = 0; n < 256; ++n) {
        const int half = n / 128, quarter = n % 128 / 32, at = n % 32;
        const int both = lower[64 * half + 32 * (quarter % 2) + at];
        const int low = quarter < 2 ? both & 15 : both >> 4;
        const int high = upper[32 * half + at] >> (2 * quarter) & 3;
        const auto scale = static_cast<std::int8_t>(scales[n / 16]);
        to[n] = d * static_cast<float>(scale) * static_cast<float>((low | high << 4) - 32);
    }
}

constexpr GgufType kTypes[] = {
    {0, "F32", 1, 4, widen_f32},
    {1, "F16", 1, 2, widen_f16},
    {2, "Q4_0"},
    {3, "Q4_1"},
    {6, "Q5_0"},
    {7, "Q5_1"},
    {8, "Q8_0", 32, 34, widen_q8_0},
    {9, "Q8_1"},
    {10, "Q2_K"},
    {11, "Q3_K"},
    {12, "Q4_K", 256, 144, widen_q4_k},
    {13, "Q5_K"},
    {14, "Q6_K", 256, 210, widen_q6_k},
    {15, "Q8_K"},
    {16, "IQ2_XXS"},
    {17, "IQ2_XS"},
    {18, "IQ3_XXS"},
    {19, "IQ1_S"},
    {20, "IQ4_NL"},
    {21, "IQ3_S"},
    {22, "IQ2_S"},
    {23, "IQ4_XS"},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M"},
    {30, "BF16", 1, 2, widen_bf16},
    {34, "TQ1_0"},
    {35, "TQ2_0"},
    {39, "MXFP4"},
};

}  // namespace

const GgufType* gguf_type(std::uint32_t id) {
    const auto* const found = std::ranges::find(kTypes, id, &GgufType::id);
    return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace attn
