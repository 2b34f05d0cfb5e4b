// Rows of Q4_K and Q6_K times a row of digits. A code has 4 or 6 bits, so that four products of a code and a digit are one lane of
// one instruction (vpdpbusd), where float32 widens, converts and multiplies each code by itself.
//
// A lane holds 65536 Σ c h + 256 Σ c m + Σ c l of four codes c: at most 4 · 63 · 128 · 65793 < 2³¹, so that no product overflows.
// Offsets and minima are constants of a run of codes: they are multiplied with the sums of the numbers.

#include "core/kernels/digit_dot.h"

#if defined(__x86_64__)

// GCC's header of intrinsics warns of its own undefined vectors (its bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstring>

#define ATTN_VNNI __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,f16c,fma")))

namespace attn {
namespace {

constexpr Index kBlock = 256, kRun = 16, kQuarter = 64;
constexpr float kLargest =
    127 *
    65536;  // below 127 · 65793, the most that three digits hold, so that rounding cannot pass it

bool has_vnni() {
    static const bool has =
        __builtin_cpu_supports("avx512vnni") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
        __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
    return has;
}

ATTN_VNNI inline __m512i last_digit(__m512i of) {
    return _mm512_srai_epi32(_mm512_slli_epi32(of, 24), 24);
}
ATTN_VNNI inline void put_bytes(__m512i of, std::int8_t* to) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(of));
}

/// The digits of 16 numbers, their scale and their sum. False if one is not finite.
ATTN_VNNI inline bool put_digits(const float* numbers, std::int8_t* high, float& scale,
                                 float& sum) {
    const __m512 a = _mm512_loadu_ps(numbers), size = _mm512_abs_ps(a);
    if (_mm512_cmp_ps_mask(size, _mm512_set1_ps(3e38F), _CMP_NLE_UQ) != 0) return false;
    const float largest = std::max(_mm512_reduce_max_ps(size), 1e-30F);
    scale = largest / kLargest;
    const __m512i whole = _mm512_cvtps_epi32(_mm512_mul_ps(a, _mm512_set1_ps(kLargest / largest)));
    sum = scale * static_cast<float>(_mm512_reduce_add_epi32(whole));
    const __m512i l = last_digit(whole), above = _mm512_srai_epi32(_mm512_sub_epi32(whole, l), 8);
    const __m512i m = last_digit(above), h = _mm512_srai_epi32(_mm512_sub_epi32(above, m), 8);
    put_bytes(h, high);
    put_bytes(m, high + kQuarter);
    put_bytes(l, high + 2 * kQuarter);
    return true;
}

ATTN_VNNI bool put_all_digits(std::span<const float> numbers, DigitRow& row) {
    for (Index k = 0; k < std::ssize(numbers); k += kRun)
        if (!put_digits(numbers.data() + k,
                        row.digits.data() + k / kQuarter * 3 * kQuarter + k % kQuarter,
                        row.scales[k / kRun], row.sums[k / kRun]))
            return false;
    return true;
}

/// Lane j: run 4 `quarter` + j / 4, of 16 runs of 16 numbers.
ATTN_VNNI inline __m512 of_quarter(__m512 runs, int quarter) {
    const __m512i first = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    return _mm512_permutexvar_ps(_mm512_add_epi32(first, _mm512_set1_epi32(4 * quarter)), runs);
}

/// Lane j: Σ of codes 4 j to 4 j + 3 times their integers.
ATTN_VNNI inline __m512 times_digits(__m512i codes, const std::int8_t* digits) {
    const __m512i h = _mm512_loadu_si512(digits), m = _mm512_loadu_si512(digits + kQuarter),
                  l = _mm512_loadu_si512(digits + 2 * kQuarter);
    __m512i sums = _mm512_dpbusd_epi32(_mm512_setzero_si512(), codes, h);
    sums = _mm512_dpbusd_epi32(_mm512_slli_epi32(sums, 8), codes, m);
    sums = _mm512_dpbusd_epi32(_mm512_slli_epi32(sums, 8), codes, l);
    return _mm512_cvtepi32_ps(sums);
}

ATTN_VNNI inline float half_at(const unsigned char* at) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return _cvtsh_ss(bits);
}

/// 32 bytes in both halves of a vector, moved right by other counts.
ATTN_VNNI inline __m512i twice(const unsigned char* at) {
    return _mm512_broadcast_i64x4(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(at)));
}
ATTN_VNNI inline __m512i counts(short first, short second) {
    return _mm512_inserti64x4(_mm512_set1_epi16(first), _mm256_set1_epi16(second), 1);
}

/// The 8 scales and 8 minima of 6 bits, in 12 bytes: the lower bits of four are in one number of 32 bits, their upper ones may be in another
/// (core/io/gguf_types.cpp).
ATTN_VNNI inline __m512 scales_and_minima(const unsigned char* at) {
    constexpr int kSix = 0x3F3F3F3F, kFour = 0x0F0F0F0F, kUpper = 0x30303030;
    const __m128i stored = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i low =
        _mm_and_si128(_mm_srlv_epi32(_mm_shuffle_epi32(stored, _MM_SHUFFLE(2, 1, 2, 0)),
                                     _mm_setr_epi32(0, 0, 0, 4)),
                      _mm_setr_epi32(kSix, kFour, kSix, kFour));
    const __m128i high =
        _mm_and_si128(_mm_srli_epi32(_mm_shuffle_epi32(stored, _MM_SHUFFLE(1, 1, 0, 0)), 2),
                      _mm_setr_epi32(0, kUpper, 0, kUpper));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_or_si128(low, high)));
}

/// The two numbers of 16 bits at the front of a block, in the even and in the odd lanes.
ATTN_VNNI inline __m512 two_halves(const unsigned char* at) {
    std::int32_t both = 0;
    std::memcpy(&both, at, sizeof both);
    return _mm512_cvtph_ps(_mm256_set1_epi32(both));
}

}  // namespace

std::optional<DigitRow> digit_row(std::span<const float> numbers) {
    if (!has_vnni()) return std::nullopt;
    const auto count = numbers.size();
    DigitRow row{std::vector<std::int8_t>(3 * count), std::vector<float>(count / kRun),
                 std::vector<float>(count / kRun)};
    if (!put_all_digits(numbers, row)) return std::nullopt;
    return row;
}

ATTN_VNNI float dot_q4_k(const unsigned char* blocks, Index count, const DigitRow& a) {
    const __m512i pairs = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    const __m512i upper = _mm512_add_epi32(pairs, _mm512_set1_epi32(8));
    const __m512i right = counts(0, 4), four = _mm512_set1_epi8(15);
    __m512 sums = _mm512_setzero_ps(), others = sums, shifts = sums;
    for (Index n = 0; n < count; ++n, blocks += 144) {
        const __m512 small = scales_and_minima(blocks + 4);
        const __m512 halves = two_halves(blocks);
        const __m512 steps = _mm512_mul_ps(
            _mm512_mul_ps(_mm512_moveldup_ps(halves), _mm512_loadu_ps(a.scales.data() + kRun * n)),
            _mm512_permutexvar_ps(pairs, small));
        shifts = _mm512_fmadd_ps(
            _mm512_mul_ps(_mm512_movehdup_ps(halves), _mm512_loadu_ps(a.sums.data() + kRun * n)),
            _mm512_permutexvar_ps(upper, small), shifts);
        const std::int8_t* const digits = a.digits.data() + 3 * kBlock * n;
        for (int quarter = 0; quarter < 4; ++quarter) {
            const __m512i codes =
                _mm512_and_si512(_mm512_srlv_epi16(twice(blocks + 16 + 32 * quarter), right), four);
            __m512& to = quarter % 2 == 0 ? sums : others;
            to = _mm512_fmadd_ps(times_digits(codes, digits + 3 * kQuarter * quarter),
                                 of_quarter(steps, quarter), to);
        }
    }
    return _mm512_reduce_add_ps(_mm512_sub_ps(_mm512_add_ps(sums, others), shifts));
}

ATTN_VNNI float dot_q6_k(const unsigned char* blocks, Index count, const DigitRow& a) {
    const __m512i four = _mm512_set1_epi8(15), two = _mm512_set1_epi8(48);
    const __m512i left = counts(4, 2), right = counts(0, 2);
    __m512 sums = _mm512_setzero_ps(), others = sums, shifts = sums;
    for (Index n = 0; n < count; ++n, blocks += 210) {
        const __m512 small = _mm512_mul_ps(_mm512_set1_ps(half_at(blocks + 208)),
                                           _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(
                                               reinterpret_cast<const __m128i*>(blocks + 192)))));
        const __m512 steps = _mm512_mul_ps(small, _mm512_loadu_ps(a.scales.data() + kRun * n));
        shifts = _mm512_fmadd_ps(small, _mm512_loadu_ps(a.sums.data() + kRun * n), shifts);
        const std::int8_t* const digits = a.digits.data() + 3 * kBlock * n;
        for (int part = 0; part < 2; ++part) {
            const __m512i low = _mm512_loadu_si512(blocks + 64 * part);
            const __m512i high = twice(blocks + 128 + 32 * part);
            const __m512i first = _mm512_or_si512(
                _mm512_and_si512(low, four), _mm512_and_si512(_mm512_sllv_epi16(high, left), two));
            const __m512i second =
                _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi16(low, 4), four),
                                _mm512_and_si512(_mm512_srlv_epi16(high, right), two));
            const std::int8_t* const here = digits + 6 * kQuarter * part;
            sums = _mm512_fmadd_ps(times_digits(first, here), of_quarter(steps, 2 * part), sums);
            others = _mm512_fmadd_ps(times_digits(second, here + 3 * kQuarter),
                                     of_quarter(steps, 2 * part + 1), others);
        }
    }
    return _mm512_reduce_add_ps(
        _mm512_fnmadd_ps(_mm512_set1_ps(32.0F), shifts, _mm512_add_ps(sums, others)));
}

}  // namespace attn

#else

namespace attn {

std::optional<DigitRow> digit_row(std::span<const float>) { return std::nullopt; }

}  // namespace attn

#endif
