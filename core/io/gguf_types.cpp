// d scale of a block, m its minimum, q codes. Numbers of GGUF's blocks in float32. Sources: ggml-common.h and ggml-quants.c of
// github.com/ggml-org/ggml (block_q4_0, dequantize_row_q4_0, …) and gguf-py/gguf/quants.py, whose bits these are
// (tests/io/gguf_types_test.py). Products of a 16-bit scale, small scales and codes are exact in float32, so that each number
// is rounded once, at most, whether or not multiply and add are fused.
//
// Why it is fast: Q4_K and Q6_K, which most files are made of, are unpacked by vectors of 16 codes, 4 µops a vector and less; the
// others are loops over neighbouring codes without branches, which the compiler makes vectors of.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/io/gguf_types.cpp"
#include "core/kernels/highway_targets.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/halves.h"
#include "core/io/gguf.h"
#include "core/io/gguf_grids.h"
#include "core/kernels/digit_dot.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

using Byte = unsigned char;

HWY_INLINE std::uint16_t two(const Byte* at) {
    return static_cast<std::uint16_t>(at[0] | at[1] << 8);
}
HWY_INLINE std::uint32_t four(const Byte* at) {
    return static_cast<std::uint32_t>(two(at)) | static_cast<std::uint32_t>(two(at + 2)) << 16U;
}
HWY_INLINE float half(const Byte* at) { return from_half(two(at)); }
HWY_INLINE float signed_byte(Byte byte) {
    return static_cast<float>(static_cast<std::int8_t>(byte));
}

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of 16 lanes at most, which a scale is for.
using Floats = hn::CappedTag<float, 16>;
using Ints = hn::RebindToSigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;
using Codes = hn::Vec<Ints>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());

HWY_INLINE Codes codes_at(const Byte* at) { return hn::PromoteTo(Ints(), hn::LoadU(Bytes(), at)); }
HWY_INLINE Codes signed_at(const Byte* at) {
    const hn::Rebind<std::int8_t, Floats> bytes;
    return hn::PromoteTo(Ints(), hn::LoadU(bytes, reinterpret_cast<const std::int8_t*>(at)));
}
HWY_INLINE Codes masked(Codes codes, int mask) { return hn::And(codes, hn::Set(Ints(), mask)); }
/// Takers of vectors of numbers, the n-th and following of a block: the numbers are stored, or their products with `a` are added
/// to one of four sums.
struct Stored {
    float* to;
    template <int kSum>
    HWY_INLINE void take(std::size_t n, hn::Vec<Floats> numbers) {
        hn::StoreU(numbers, Floats(), to + n);
    }
};
struct Summed {
    const float* a;
    hn::Vec<Floats> sums_0 = hn::Zero(Floats()), sums_1 = sums_0, sums_2 = sums_0, sums_3 = sums_0;
    template <int kSum>
    HWY_INLINE void take(std::size_t n, hn::Vec<Floats> numbers) {
        auto& sums = kSum == 0 ? sums_0 : kSum == 1 ? sums_1 : kSum == 2 ? sums_2 : sums_3;
        sums = hn::MulAdd(numbers, hn::LoadU(Floats(), a + n), sums);
    }
    HWY_INLINE float sum() const {
        return hn::GetLane(
            hn::SumOfLanes(Floats(), hn::Add(hn::Add(sums_0, sums_1), hn::Add(sums_2, sums_3))));
    }
};

/// step q − shift.
HWY_INLINE hn::Vec<Floats> numbers_of(Codes q, float step, float shift) {
    const Floats floats;
    return hn::MulSub(hn::Set(floats, step), hn::ConvertTo(floats, q), hn::Set(floats, shift));
}
/// step (q − 32).
HWY_INLINE hn::Vec<Floats> six_bits(Codes low, Codes high, float step) {
    const Floats floats;
    const Codes q = hn::Sub(hn::Or(low, high), hn::Set(Ints(), 32));
    return hn::Mul(hn::Set(floats, step), hn::ConvertTo(floats, q));
}

HWY_INLINE void widen_f32(const Byte* block, float* to) { *to = std::bit_cast<float>(four(block)); }
HWY_INLINE void widen_f16(const Byte* block, float* to) { *to = half(block); }
HWY_INLINE void widen_bf16(const Byte* block, float* to) { *to = from_bfloat16(two(block)); }

/// d, 16 bytes: d (q − 8). The lower halves of the bytes are the first 16 numbers, the upper ones the others.
HWY_INLINE void widen_q4_0(const Byte* block, float* to) {
    const float d = half(block);
    const Byte* const q = block + 2;
    for (int n = 0; n < 16; ++n) to[n] = d * static_cast<float>((q[n] & 15) - 8);
    for (int n = 0; n < 16; ++n) to[16 + n] = d * static_cast<float>((q[n] >> 4) - 8);
}

/// d, m, 16 bytes: d q + m.
HWY_INLINE void widen_q4_1(const Byte* block, float* to) {
    const float d = half(block), m = half(block + 2);
    const Byte* const q = block + 4;
    for (int n = 0; n < 16; ++n) to[n] = d * static_cast<float>(q[n] & 15) + m;
    for (int n = 0; n < 16; ++n) to[16 + n] = d * static_cast<float>(q[n] >> 4) + m;
}

/// The fifth bit of number n is bit n of 4 bytes.
HWY_INLINE int fifth_bit(std::uint32_t bits, int n) {
    return static_cast<int>(bits >> n & 1U) << 4;
}

/// d, 4 bytes of upper bits, 16 bytes: d (q − 16).
HWY_INLINE void widen_q5_0(const Byte* block, float* to) {
    const float d = half(block);
    const std::uint32_t upper = four(block + 2);
    const Byte* const q = block + 6;
    for (int n = 0; n < 16; ++n)
        to[n] = d * static_cast<float>(((q[n] & 15) | fifth_bit(upper, n)) - 16);
    for (int n = 0; n < 16; ++n)
        to[16 + n] = d * static_cast<float>((q[n] >> 4 | fifth_bit(upper, 16 + n)) - 16);
}

/// d, m, 4 bytes of upper bits, 16 bytes: d q + m.
HWY_INLINE void widen_q5_1(const Byte* block, float* to) {
    const float d = half(block), m = half(block + 2);
    const std::uint32_t upper = four(block + 4);
    const Byte* const q = block + 8;
    for (int n = 0; n < 16; ++n)
        to[n] = d * static_cast<float>((q[n] & 15) | fifth_bit(upper, n)) + m;
    for (int n = 0; n < 16; ++n)
        to[16 + n] = d * static_cast<float>(q[n] >> 4 | fifth_bit(upper, 16 + n)) + m;
}

/// d, 32 signed bytes: d q.
HWY_INLINE void widen_q8_0(const Byte* block, float* to) {
    const float d = half(block);
    for (int n = 0; n < 32; ++n) to[n] = d * signed_byte(block[2 + n]);
}

/// The same behind d and d Σ q.
HWY_INLINE void widen_q8_1(const Byte* block, float* to) {
    const float d = half(block);
    for (int n = 0; n < 32; ++n) to[n] = d * signed_byte(block[4 + n]);
}

/// d in float32, 256 signed bytes, sums of 16: d q.
HWY_INLINE void widen_q8_k(const Byte* block, float* to) {
    const float d = std::bit_cast<float>(four(block));
    for (int n = 0; n < 256; ++n) to[n] = d * signed_byte(block[4 + n]);
}

/// 16 scales and minima of 4 bits, 64 bytes of 2 bits, d, m: d s q − m b. Each 32 bytes hold 4 runs of 32 numbers, the lowest
/// bits first; 16 numbers have a scale.
HWY_INLINE void widen_q2_k(const Byte* block, float* to) {
    const Byte *const scales = block, *const q = block + 16;
    const float d = half(block + 80), m = half(block + 82);
    for (int part = 0; part < 16; ++part) {
        const float step = d * static_cast<float>(scales[part] & 15);
        const float shift = m * static_cast<float>(scales[part] >> 4);
        const Byte* const from = q + 32 * (part / 8) + 16 * (part % 2);
        const int bits = 2 * (part % 8 / 2);
        for (int n = 0; n < 16; ++n)
            to[16 * part + n] = step * static_cast<float>(from[n] >> bits & 3) - shift;
    }
}

/// 32 bytes of upper bits, 64 of lower 2 bits as in Q2_K, 16 scales of 6 bits in 12 bytes, d: d (s − 32) q, where q is its lower
/// bits, less 4 where the upper bit is 0.
HWY_INLINE void widen_q3_k(const Byte* block, float* to) {
    const Byte *const upper = block, *const q = block + 32, *const scales = block + 96;
    const float d = half(block + 108);
    for (int part = 0; part < 16; ++part) {
        const int low = part < 8 ? scales[part] & 15 : scales[part - 8] >> 4;
        const int high = scales[8 + part % 4] >> (2 * (part / 4)) & 3;
        const float step = d * static_cast<float>((low | high << 4) - 32);
        const Byte* const from = q + 32 * (part / 8) + 16 * (part % 2);
        const Byte* const signs = upper + 16 * (part % 2);
        const int bits = 2 * (part % 8 / 2), bit = part / 2;
        for (int n = 0; n < 16; ++n)
            to[16 * part + n] =
                step * static_cast<float>((from[n] >> bits & 3) - 4 + ((signs[n] >> bit & 1) << 2));
    }
}

/// d s and m b of 8 runs, whose s and b have 6 bits each in 12 bytes: four bytes are taken at once, and 16 are multiplied.
struct StepsAndShifts {
    float steps[8], shifts[8];
};
static_assert(sizeof(StepsAndShifts) == 16 * sizeof(float));
HWY_INLINE void get_steps(const Byte* block, StepsAndShifts& made) {
    const float d = half(block), m = half(block + 2);
    constexpr std::uint32_t kSix = 0x3F3F3F3FU, kFour = 0x0F0F0F0FU, kTwo = 0x03030303U;
    const std::uint32_t first = four(block + 4), second = four(block + 8), third = four(block + 12);
    const std::uint32_t fours[4] = {first & kSix, (third & kFour) | (first >> 6U & kTwo) << 4U,
                                    second & kSix,
                                    (third >> 4U & kFour) | (second >> 6U & kTwo) << 4U};
    Byte bytes[16];
    std::memcpy(bytes, fours, sizeof bytes);
    float numbers[16];
    const Floats floats;
    for (std::size_t n = 0; n < 16; n += kLanes) {
        const auto factor = kLanes == 16 ? hn::IfThenElse(hn::FirstN(floats, 8), hn::Set(floats, d),
                                                          hn::Set(floats, m))
                                         : hn::Set(floats, n < 8 ? d : m);
        hn::StoreU(hn::Mul(factor, hn::ConvertTo(floats, codes_at(bytes + n))), floats,
                   numbers + n);
    }
    std::memcpy(made.steps, numbers, sizeof made.steps);
    std::memcpy(made.shifts, numbers + 8, sizeof made.shifts);
}

/// d, m, 8 scales and minima, 128 bytes: d s q − m b. Each 32 bytes hold two runs of 32 numbers, in the lower halves and in the
/// upper.
struct Q4K {
    template <class Sink>
    HWY_INLINE static void give(const Byte* block, Sink& sink) {
        StepsAndShifts made;
        get_steps(block, made);
        for (int part = 0; part < 8; part += 2) {
            const Byte* const q = block + 16 + 16 * part;
            const auto run = static_cast<std::size_t>(32 * part);
            for (std::size_t n = 0; n < 32; n += kLanes) {
                const Codes both = codes_at(q + n);
                sink.template take<0>(
                    run + n, numbers_of(masked(both, 15), made.steps[part], made.shifts[part]));
                sink.template take<1>(run + 32 + n,
                                      numbers_of(hn::ShiftRight<4>(both), made.steps[part + 1],
                                                 made.shifts[part + 1]));
            }
        }
    }
};

/// The same with 32 bytes of fifth bits before the 128: bit r of byte n is that of number n of run r.
HWY_INLINE void widen_q5_k(const Byte* block, float* to) {
    StepsAndShifts made;
    get_steps(block, made);
    const Byte* const upper = block + 16;
    for (int part = 0; part < 8; ++part) {
        const Byte* const q = block + 48 + 32 * (part / 2);
        const int bits = 4 * (part % 2);
        for (int n = 0; n < 32; ++n)
            to[32 * part + n] = made.steps[part] * static_cast<float>((q[n] >> bits & 15) |
                                                                      (upper[n] >> part & 1) << 4) -
                                made.shifts[part];
    }
}

/// 128 bytes of lower 4 bits, 64 of upper 2, 16 signed scales, d: d s (q − 32). Of each half of 128 numbers the quarters lie in
/// the two halves of 64 bytes; 16 numbers have a scale.
struct Q6K {
    template <class Sink>
    HWY_INLINE static void give(const Byte* block, Sink& sink) {
        const float d = half(block + 208);
        float steps[16];
        for (std::size_t n = 0; n < 16; n += kLanes)
            hn::StoreU(
                hn::Mul(hn::Set(Floats(), d), hn::ConvertTo(Floats(), signed_at(block + 192 + n))),
                Floats(), steps + n);
        for (std::size_t part = 0; part < 2; ++part) {
            const Byte *const lower = block + 64 * part, *const upper = block + 128 + 32 * part;
            for (std::size_t n = 0; n < 32; n += kLanes) {
                const float* const step = steps + 8 * part + n / 16;
                const Codes first = codes_at(lower + n), second = codes_at(lower + 32 + n);
                const Codes high = codes_at(upper + n);
                const std::size_t run = 128 * part + n;
                sink.template take<0>(
                    run, six_bits(masked(first, 15), hn::ShiftLeft<4>(masked(high, 3)), step[0]));
                sink.template take<1>(
                    run + 32,
                    six_bits(masked(second, 15), hn::ShiftLeft<2>(masked(high, 12)), step[2]));
                sink.template take<2>(
                    run + 64, six_bits(hn::ShiftRight<4>(first), masked(high, 48), step[4]));
                sink.template take<3>(run + 96,
                                      six_bits(hn::ShiftRight<4>(second),
                                               hn::ShiftRight<2>(masked(high, 192)), step[6]));
            }
        }
    }
};

/// Powers of 3 that move a digit of base 3 to the top of a byte.
constexpr int kThrees[5] = {1, 3, 9, 27, 81};
HWY_INLINE float digit(Byte byte, int power) {
    const auto moved = static_cast<Byte>(byte * power);
    return static_cast<float>((moved * 3 >> 8) - 1);
}

/// 48 bytes of 5 digits of base 3, 4 of 4, d: d (q − 1).
HWY_INLINE void widen_tq1_0(const Byte* block, float* to) {
    const float d = half(block + 52);
    for (int n = 0; n < 160; ++n) to[n] = d * digit(block[n % 32], kThrees[n / 32]);
    for (int n = 0; n < 80; ++n) to[160 + n] = d * digit(block[32 + n % 16], kThrees[n / 16]);
    for (int n = 0; n < 16; ++n) to[240 + n] = d * digit(block[48 + n % 4], kThrees[n / 4]);
}

/// 64 bytes of 2 bits as in Q2_K, d: d (q − 1).
HWY_INLINE void widen_tq2_0(const Byte* block, float* to) {
    const float d = half(block + 64);
    for (int part = 0; part < 8; ++part)
        for (int n = 0; n < 32; ++n)
            to[32 * part + n] =
                d * static_cast<float>((block[32 * (part / 4) + n] >> (2 * (part % 4)) & 3) - 1);
}

/// Twice the numbers of E2M1, the 4-bit floats of OCP's Microscaling Formats 1.0.
constexpr float kE2m1[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

/// e, a power of two, 16 bytes as in Q4_0: 2^(e − 128) · 2 E2M1(q).
HWY_INLINE void widen_mxfp4(const Byte* block, float* to) {
    const std::uint32_t e = block[0];
    const auto d = std::bit_cast<float>(e < 2 ? 0x0020'0000U << e : (e - 1) << 23U);
    const Byte* const q = block + 1;
    for (int n = 0; n < 16; ++n) to[n] = d * kE2m1[q[n] & 15];
    for (int n = 0; n < 16; ++n) to[16 + n] = d * kE2m1[q[n] >> 4];
}

/// Half of E4M3 without its sign; NaN is 0.
HWY_INLINE float half_e4m3(Byte byte) {
    const int exponent = byte >> 3 & 15, fraction = byte & 7;
    if (byte == 0x7F) return 0.0F;
    if (exponent == 0) return static_cast<float>(fraction) * 0x1p-10F;
    return std::bit_cast<float>(static_cast<std::uint32_t>(exponent - 8 + 127) << 23U |
                                static_cast<std::uint32_t>(fraction) << 20U);
}

/// 4 scales of 8 bits, and for each 8 bytes as in Q4_0: s · 2 E2M1(q).
HWY_INLINE void widen_nvfp4(const Byte* block, float* to) {
    for (int part = 0; part < 4; ++part) {
        const float d = half_e4m3(block[part]);
        const Byte* const q = block + 4 + 8 * part;
        for (int n = 0; n < 8; ++n) to[16 * part + n] = d * kE2m1[q[n] & 15];
        for (int n = 0; n < 8; ++n) to[16 * part + 8 + n] = d * kE2m1[q[n] >> 4];
    }
}

constexpr float kUneven[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                               1,    13,   25,  38,  53,  69,  89,  113};

/// d, 16 bytes as in Q4_0: d c[q].
HWY_INLINE void widen_iq4_nl(const Byte* block, float* to) {
    const float d = half(block);
    const Byte* const q = block + 2;
    for (int n = 0; n < 16; ++n) to[n] = d * kUneven[q[n] & 15];
    for (int n = 0; n < 16; ++n) to[16 + n] = d * kUneven[q[n] >> 4];
}

/// d, 8 scales of 6 bits (2 bytes of upper bits, 4 of lower), and for each 16 bytes: d (s − 32) c[q].
HWY_INLINE void widen_iq4_xs(const Byte* block, float* to) {
    const float d = half(block);
    const int upper = two(block + 2);
    for (int part = 0; part < 8; ++part) {
        const int low = block[4 + part / 2] >> (4 * (part % 2)) & 15;
        const int high = upper >> (2 * part) & 3;
        const float step = d * static_cast<float>((low | high << 4) - 32);
        const Byte* const q = block + 8 + 16 * part;
        for (int n = 0; n < 16; ++n) to[32 * part + n] = step * kUneven[q[n] & 15];
        for (int n = 0; n < 16; ++n) to[32 * part + 16 + n] = step * kUneven[q[n] >> 4];
    }
}

constexpr float kIq2Values[4] = {8, 25, 43, 0};
constexpr float kIq3XxsValues[8] = {4, 12, 20, 28, 36, 44, 52, 62};

/// The eighth sign makes their number even.
HWY_INLINE int eight_signs(std::uint32_t seven) {
    return static_cast<int>(seven | (static_cast<std::uint32_t>(std::popcount(seven)) & 1U) << 7U);
}
HWY_INLINE float with_sign(float value, int signs, int n) {
    return (signs >> n & 1) != 0 ? -value : value;
}
/// 8 numbers of a code of IQ2.
HWY_INLINE void widen_eight(float step, std::uint16_t code, int signs, float* to) {
    for (int n = 0; n < 8; ++n) to[n] = with_sign(step * kIq2Values[code >> (2 * n) & 3], signs, n);
}
/// 4 numbers of a code of IQ3 that is read by `value`.
template <class Value>
HWY_INLINE void widen_four(float step, std::uint16_t code, int signs, const Value& value,
                           float* to) {
    for (int n = 0; n < 4; ++n) to[n] = with_sign(step * value(code >> (4 * n) & 7), signs, n);
}

/// d; for each 32 numbers 4 codes of a byte, then 4 × 7 signs and a scale of 4 bits: d (s + ½) / 4 · g.
HWY_INLINE void widen_iq2_xxs(const Byte* block, float* to) {
    const float d = half(block);
    for (int part = 0; part < 8; ++part) {
        const Byte* const q = block + 2 + 8 * part;
        const std::uint32_t rest = four(q + 4);
        const float step = d * (0.5F + static_cast<float>(rest >> 28U)) * 0.25F;
        for (int n = 0; n < 4; ++n)
            widen_eight(step, kIq2XxsGrid[q[n]], eight_signs(rest >> (7 * n) & 127U),
                        to + 32 * part + 8 * n);
    }
}

/// d, 32 codes of 9 bits with 7 signs, 16 scales of 4 bits.
HWY_INLINE void widen_iq2_xs(const Byte* block, float* to) {
    const float d = half(block);
    for (int n = 0; n < 32; ++n) {
        const std::uint16_t q = two(block + 2 + 2 * n);
        const int scale = block[66 + n / 4] >> (4 * (n / 2 % 2)) & 15;
        widen_eight(d * (0.5F + static_cast<float>(scale)) * 0.25F, kIq2XsGrid[q & 511],
                    eight_signs(static_cast<std::uint32_t>(q >> 9)), to + 8 * n);
    }
}

/// d, 32 codes' lower 8 bits, 32 bytes of signs, the codes' upper 2 bits, 16 scales of 4 bits.
HWY_INLINE void widen_iq2_s(const Byte* block, float* to) {
    const float d = half(block);
    for (int n = 0; n < 32; ++n) {
        const int code = block[2 + n] | (block[66 + n / 4] >> (2 * (n % 4)) & 3) << 8;
        const int scale = block[74 + n / 4] >> (4 * (n / 2 % 2)) & 15;
        widen_eight(d * (0.5F + static_cast<float>(scale)) * 0.25F, kIq2SGrid[code], block[34 + n],
                    to + 8 * n);
    }
}

/// d, 64 codes of a byte, for each 32 numbers 4 × 7 signs and a scale of 4 bits: d (s + ½) / 2 · g.
HWY_INLINE void widen_iq3_xxs(const Byte* block, float* to) {
    const float d = half(block);
    const auto value = [](int index) HWY_ATTR { return kIq3XxsValues[index]; };
    for (int part = 0; part < 8; ++part) {
        const std::uint32_t rest = four(block + 66 + 4 * part);
        const float step = d * (0.5F + static_cast<float>(rest >> 28U)) * 0.5F;
        for (int n = 0; n < 8; ++n)
            widen_four(step, kIq3XxsGrid[block[2 + 8 * part + n]],
                       eight_signs(rest >> (7 * (n / 2)) & 127U) >> (4 * (n % 2)), value,
                       to + 32 * part + 4 * n);
    }
}

/// d, 64 codes' lower 8 bits, their ninth bits, 32 bytes of signs, 8 scales of 4 bits: d (2 s + 1) g.
HWY_INLINE void widen_iq3_s(const Byte* block, float* to) {
    const float d = half(block);
    const auto value = [](int index) HWY_ATTR { return static_cast<float>(2 * index + 1); };
    for (int n = 0; n < 64; ++n) {
        const int code = block[2 + n] | (block[66 + n / 8] >> (n % 8) & 1) << 8;
        const int scale = block[106 + n / 16] >> (4 * (n / 8 % 2)) & 15;
        widen_four(d * static_cast<float>(1 + 2 * scale), kIq3SGrid[code],
                   block[74 + n / 2] >> (4 * (n % 2)), value, to + 4 * n);
    }
}

/// 8 numbers of a code of IQ1: d (g ± ⅛), g −1, 0 or 1.
HWY_INLINE void widen_thirds(float step, std::uint16_t code, bool less, float* to) {
    const float delta = less ? -0.125F : 0.125F;
    for (int n = 0; n < 8; ++n)
        to[n] = step * (static_cast<float>((code >> (2 * n) & 3) - 1) + delta);
}

/// d, 32 codes' lower 8 bits, for each 32 numbers 4 × 3 upper bits, a scale of 3 bits, the sign of ⅛: d (2 s + 1) (g ± ⅛).
HWY_INLINE void widen_iq1_s(const Byte* block, float* to) {
    const float d = half(block);
    for (int n = 0; n < 32; ++n) {
        const int rest = two(block + 34 + 2 * (n / 4));
        const int code = block[2 + n] | (rest >> (3 * (n % 4)) & 7) << 8;
        widen_thirds(d * static_cast<float>(2 * (rest >> 12 & 7) + 1), kIq1SGrid[code],
                     (rest & 0x8000) != 0, to + 8 * n);
    }
}

/// 32 codes' lower 8 bits, 32 times 3 upper bits and the sign of ⅛, 16 scales of 3 bits in 4 × 12 bits, whose other 4 × 4 bits
/// are d.
HWY_INLINE void widen_iq1_m(const Byte* block, float* to) {
    const Byte* const scales = block + 48;
    int bits = 0;
    for (int n = 0; n < 4; ++n) bits |= (two(scales + 2 * n) >> 12) << (4 * n);
    const float d = from_half(static_cast<std::uint16_t>(bits));
    for (int n = 0; n < 32; ++n) {
        const int rest = block[32 + n / 2] >> (4 * (n % 2));
        const int code = block[n] | (rest & 7) << 8;
        const int scale = two(scales + 2 * (n / 8)) >> (3 * (n / 2 % 4)) & 7;
        widen_thirds(d * static_cast<float>(2 * scale + 1), kIq1SGrid[code], (rest & 8) != 0,
                     to + 8 * n);
    }
}

template <auto kWiden, Index kItems, Index kBytes>
void widen_blocks(const Byte* blocks, Index count, float* to) {
    for (Index n = 0; n < count; ++n) kWiden(blocks + n * kBytes, to + n * kItems);
}
template <auto kWiden, Index kItems, Index kBytes>
float dot_blocks(const Byte* blocks, Index count, const float* a) {
    alignas(64) float numbers[kMostBlockItems];
    Summed sums{a};
    float rest = 0.0F;
    for (Index n = 0; n < count; ++n, sums.a += kItems) {
        kWiden(blocks + n * kBytes, numbers);
        std::size_t at = 0;
        for (; at + kLanes <= kItems; at += kLanes)
            sums.take<0>(at, hn::LoadU(Floats(), numbers + at));
        for (; at < kItems; ++at) rest += numbers[at] * sums.a[at];
    }
    return sums.sum() + rest;
}
template <auto kWiden, Index kItems, Index kBytes>
constexpr BlockCode kCode{kItems, kBytes, widen_blocks<kWiden, kItems, kBytes>,
                          dot_blocks<kWiden, kItems, kBytes>};

/// Of a type whose numbers come as vectors.
template <class Type, Index kItems, Index kBytes>
void widen_vectors(const Byte* blocks, Index count, float* to) {
    for (Index n = 0; n < count; ++n) {
        Stored stored{to + n * kItems};
        Type::give(blocks + n * kBytes, stored);
    }
}
template <class Type, Index kItems, Index kBytes>
float dot_vectors(const Byte* blocks, Index count, const float* a) {
    Summed sums{a};
    for (Index n = 0; n < count; ++n, sums.a += kItems) Type::give(blocks + n * kBytes, sums);
    return sums.sum();
}
template <class Type, Index kItems, Index kBytes, DigitDot kDotDigits>
constexpr BlockCode kVectorCode{kItems, kBytes, widen_vectors<Type, kItems, kBytes>,
                                dot_vectors<Type, kItems, kBytes>, kDotDigits};

constexpr GgufType kTypes[] = {
    {0, "F32", kCode<widen_f32, 1, 4>},
    {1, "F16", kCode<widen_f16, 1, 2>},
    {2, "Q4_0", kCode<widen_q4_0, 32, 18>},
    {3, "Q4_1", kCode<widen_q4_1, 32, 20>},
    {6, "Q5_0", kCode<widen_q5_0, 32, 22>},
    {7, "Q5_1", kCode<widen_q5_1, 32, 24>},
    {8, "Q8_0", kCode<widen_q8_0, 32, 34>},
    {9, "Q8_1", kCode<widen_q8_1, 32, 36>},
    {10, "Q2_K", kCode<widen_q2_k, 256, 84>},
    {11, "Q3_K", kCode<widen_q3_k, 256, 110>},
    {12, "Q4_K", kVectorCode<Q4K, 256, 144, kDotQ4K>},
    {13, "Q5_K", kCode<widen_q5_k, 256, 176>},
    {14, "Q6_K", kVectorCode<Q6K, 256, 210, kDotQ6K>},
    {15, "Q8_K", kCode<widen_q8_k, 256, 292>},
    {16, "IQ2_XXS", kCode<widen_iq2_xxs, 256, 66>},
    {17, "IQ2_XS", kCode<widen_iq2_xs, 256, 74>},
    {18, "IQ3_XXS", kCode<widen_iq3_xxs, 256, 98>},
    {19, "IQ1_S", kCode<widen_iq1_s, 256, 50>},
    {20, "IQ4_NL", kCode<widen_iq4_nl, 32, 18>},
    {21, "IQ3_S", kCode<widen_iq3_s, 256, 110>},
    {22, "IQ2_S", kCode<widen_iq2_s, 256, 82>},
    {23, "IQ4_XS", kCode<widen_iq4_xs, 256, 136>},
    {24, "I8"},
    {25, "I16"},
    {26, "I32"},
    {27, "I64"},
    {28, "F64"},
    {29, "IQ1_M", kCode<widen_iq1_m, 256, 56>},
    {30, "BF16", kCode<widen_bf16, 1, 2>},
    {34, "TQ1_0", kCode<widen_tq1_0, 256, 54>},
    {35, "TQ2_0", kCode<widen_tq2_0, 256, 66>},
    {39, "MXFP4", kCode<widen_mxfp4, 32, 17>},
    {40, "NVFP4", kCode<widen_nvfp4, 64, 36>},
    {41, "Q1_0"},
    {42, "Q2_0"},
};

static_assert(std::ranges::all_of(kTypes, [](const GgufType& type) {
    return type.code.items <= kMostBlockItems;
}));

std::span<const GgufType> types() { return kTypes; }

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {
namespace {
HWY_EXPORT(types);
}

const GgufType* gguf_type(std::uint32_t id) {
    const std::span<const GgufType> all = HWY_DYNAMIC_DISPATCH(types)();
    const auto found = std::ranges::find(all, id, &GgufType::id);
    return found == all.end() ? nullptr : &*found;
}

std::string gguf_types_text() {
    std::vector<std::string_view> names;
    for (const GgufType& type : HWY_DYNAMIC_DISPATCH(types)())
        if (type.code.items > 0) names.push_back(type.name);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace attn

#endif  // HWY_ONCE
