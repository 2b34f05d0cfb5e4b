// Tiles that both fused kernels are made of, compiled once for each instruction set (so no #pragma once:
// the toggle below is Highway's guard).
// G = 3 vectors of queries side by side, a "lane" each. A tile sums 4 x G numbers: with 3 vectors and one
// broadcast they fill 16 registers, and the inner loop is 7 loads for 12 multiply-adds. Where there are 32
// registers (AVX-512, 64-bit NEON) it is 8 x G, 11 loads for 24.
// Tried and lost: 6 x 2 vectors (74-99 % of peak alone), 3 x 4 (spills), unrolling by hand (g++ spills),
// 4 x G on 32 registers (2 % slower: twice as many tiles to fill and drain).

#if defined(ATTN_FUSED_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_FUSED_TILES_INL
#undef ATTN_FUSED_TILES_INL
#else
#define ATTN_FUSED_TILES_INL
#endif

#include <limits>
#include <utility>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr D kTag;

/// Keys or columns of a tile; fused_forward.h promises that it divides kTileKeys.
constexpr Index kTileRows = HWY_MAX_BYTES == 64 || HWY_ARCH_ARM_A64 ? 8 : 4;
static_assert(kTileKeys % kTileRows == 0);
using TileRows = std::make_integer_sequence<Index, kTileRows>;

HWY_INLINE Index vector_lanes() { return static_cast<Index>(hn::Lanes(kTag)); }
HWY_INLINE Index group_lanes() { return 3 * vector_lanes(); }

/// One number for each query of a group.
struct Row {
    V a, b, c;
};

struct Tile {
    Row rows[kTileRows];
};

HWY_INLINE Row load(const float* from) {
    const Index n = vector_lanes();
    return {hn::Load(kTag, from), hn::Load(kTag, from + n), hn::Load(kTag, from + 2 * n)};
}

HWY_INLINE void store(const Row& row, float* to) {
    const Index n = vector_lanes();
    hn::Store(row.a, kTag, to);
    hn::Store(row.b, kTag, to + n);
    hn::Store(row.c, kTag, to + 2 * n);
}

HWY_INLINE Row all_lanes(float value) {
    const V v = hn::Set(kTag, value);
    return {v, v, v};
}

HWY_INLINE Row add(const Row& x, const Row& y) {
    return {hn::Add(x.a, y.a), hn::Add(x.b, y.b), hn::Add(x.c, y.c)};
}
HWY_INLINE Row sub(const Row& x, const Row& y) {
    return {hn::Sub(x.a, y.a), hn::Sub(x.b, y.b), hn::Sub(x.c, y.c)};
}
HWY_INLINE Row mul(const Row& x, const Row& y) {
    return {hn::Mul(x.a, y.a), hn::Mul(x.b, y.b), hn::Mul(x.c, y.c)};
}
/// x · y + z
HWY_INLINE Row mul_add(const Row& x, const Row& y, const Row& z) {
    return {hn::MulAdd(x.a, y.a, z.a), hn::MulAdd(x.b, y.b, z.b), hn::MulAdd(x.c, y.c, z.c)};
}
HWY_INLINE Row max(const Row& x, const Row& y) {
    return {hn::Max(x.a, y.a), hn::Max(x.b, y.b), hn::Max(x.c, y.c)};
}
/// x where allow is not 0, else y.
HWY_INLINE Row choose(const Row& allow, const Row& x, const Row& y) {
    const V zero = hn::Zero(kTag);
    return {hn::IfThenElse(hn::Ne(allow.a, zero), x.a, y.a),
            hn::IfThenElse(hn::Ne(allow.b, zero), x.b, y.b),
            hn::IfThenElse(hn::Ne(allow.c, zero), x.c, y.c)};
}

/// At least `low`; NaN stays NaN. (x86 returns the second operand where one is NaN.)
HWY_INLINE V at_least(V low, V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    return hn::IfThenElse(hn::Lt(x, low), low, x);
#else
    return hn::Max(low, x);
#endif
}

/// At most 0; NaN stays NaN.
HWY_INLINE V at_most_zero(V x) {
    const V zero = hn::Zero(kTag);
    return hn::IfThenElse(hn::Gt(x, zero), zero, x);
}
HWY_INLINE Row at_most_zero(const Row& x) {
    return {at_most_zero(x.a), at_most_zero(x.b), at_most_zero(x.c)};
}

/// 2^x for x <= 0: exactly 1 at 0 and exactly 0 from -126.5 down, -inf included, so that a mask needs no
/// branch; NaN gives NaN. Relative error <= 1.6e-7 above -126.
/// x = n + r, |r| <= 1/2: adding 1.5·2^23 rounds to n in the low bits; the polynomial is 2^r.
HWY_INLINE V exp2(V x) {
    constexpr float kRounder = 12582912.0F;
    constexpr float kExponentBias = 127.0F;
    x = at_least(hn::Set(kTag, -kExponentBias), x);
    const V shifted = hn::Add(x, hn::Set(kTag, kRounder + kExponentBias));
    const V r = hn::Sub(x, hn::Sub(shifted, hn::Set(kTag, kRounder + kExponentBias)));
    V p = hn::Set(kTag, 0.001326472719F);
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.00967151264F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.05550733743F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.2402224209F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 0.6931469776F));
    p = hn::MulAdd(p, r, hn::Set(kTag, 1.0F));
    const hn::RebindToSigned<D> bits;
    const V power = hn::BitCast(kTag, hn::ShiftLeft<23>(hn::BitCast(bits, shifted)));
    return hn::Mul(p, power);
}

HWY_INLINE Row exp2(const Row& x) { return {exp2(x.a), exp2(x.b), exp2(x.c)}; }

HWY_INLINE void accumulate(Row& sum, const Row& x, float y) {
    const V factor = hn::Set(kTag, y);
    sum.a = hn::MulAdd(x.a, factor, sum.a);
    sum.b = hn::MulAdd(x.b, factor, sum.b);
    sum.c = hn::MulAdd(x.c, factor, sum.c);
}

/// At most `high`; NaN stays NaN.
HWY_INLINE V at_most(V high, V x) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
    return hn::IfThenElse(hn::Gt(x, high), high, x);
#else
    return hn::Min(high, x);
#endif
}

/// tanh x = x P(x²) / Q(x²), whose coefficients make the largest relative error up to 9.02 the least, 6e-8 (Remez by
/// weighted least squares); from there on tanh rounds to 1. With float32's rounding <= 2.5e-7. NaN stays NaN.
HWY_INLINE V quick_tanh(V x) {
    const V end = hn::Set(kTag, 9.02F);
    x = at_least(hn::Neg(end), at_most(end, x));
    const V t = hn::Mul(x, x);
    V p = hn::Set(kTag, 1.8289573829e-11F);
    p = hn::MulAdd(p, t, hn::Set(kTag, -1.2794326756e-8F));
    p = hn::MulAdd(p, t, hn::Set(kTag, 9.2722299974e-6F));
    p = hn::MulAdd(p, t, hn::Set(kTag, 2.9213056921e-3F));
    p = hn::MulAdd(p, t, hn::Set(kTag, 0.12919742197F));
    p = hn::MulAdd(p, t, hn::Set(kTag, 0.9999999433F));
    V q = hn::Set(kTag, 2.2817430757e-4F);
    q = hn::MulAdd(q, t, hn::Set(kTag, 0.023765417640F));
    q = hn::MulAdd(q, t, hn::Set(kTag, 0.46253027157F));
    q = hn::MulAdd(q, t, hn::Set(kTag, 1.0F));
    return hn::Div(hn::Mul(x, p), q);
}

/// The same for |x| <= 1/2, where a polynomial has a relative error of 1.3e-8 at most.
HWY_INLINE V small_tanh(V x) {
    const V t = hn::Mul(x, x);
    V p = hn::Set(kTag, 0.0171613123F);
    p = hn::MulAdd(p, t, hn::Set(kTag, -0.0529977266F));
    p = hn::MulAdd(p, t, hn::Set(kTag, 0.1332493880F));
    p = hn::MulAdd(p, t, hn::Set(kTag, -0.3333307636F));
    return hn::MulAdd(hn::Mul(p, t), x, x);
}

/// tanh of S / cap.
HWY_INLINE Row capped_share(const Row& s, float cap) {
    const Row x = mul(s, all_lanes(1.0F / cap));
    const V size = hn::Max(hn::Abs(x.a), hn::Max(hn::Abs(x.b), hn::Abs(x.c)));
    const V sum = hn::Add(x.a, hn::Add(x.b, x.c));  // NaN where one is: then `size` may have none
    const V half = hn::Set(kTag, 0.5F);
    if (hn::AllTrue(kTag, hn::And(hn::Le(size, half), hn::Eq(sum, sum))))
        return {small_tanh(x.a), small_tanh(x.b), small_tanh(x.c)};
    return {quick_tanh(x.a), quick_tanh(x.b), quick_tanh(x.c)};
}

HWY_INLINE V tanh_slope(V x) {
    const V z = exp2(hn::Mul(hn::Abs(x), hn::Set(kTag, -2.0F * 1.44269504F)));
    const V sum = hn::Add(z, hn::Set(kTag, 1.0F));
    return hn::Div(hn::Mul(z, hn::Set(kTag, 4.0F)), hn::Mul(sum, sum));
}
/// 1 − tanh²(S / cap) as 4 z / (1 + z)², z = e^(−2 |S / cap|): a difference from 1 would lose the digits of a small slope.
HWY_INLINE Row cap_slope(const Row& s, float cap) {
    const Row x = mul(s, all_lanes(1.0F / cap));
    return {tanh_slope(x.a), tanh_slope(x.b), tanh_slope(x.c)};
}

HWY_INLINE V less_distance(V s, V slope, V distance, V key) {
    return hn::NegMulAdd(slope, hn::Abs(hn::Sub(distance, key)), s);
}
/// s − slope · |distance − key|, key counted in the block.
HWY_INLINE Row less_distance(const Row& s, float slope, const float* distance, Index key) {
    const V by = hn::Set(kTag, slope);
    const V at = hn::Set(kTag, static_cast<float>(key));
    const Row d = load(distance);
    return {less_distance(s.a, by, d.a, at), less_distance(s.b, by, d.b, at),
            less_distance(s.c, by, d.c, at)};
}

/// Streams of numbers, `step` apart, one for each row of a tile.
struct Streams {
    const float* from[kTileRows];
    Index step;
};

/// Stream r starts at base + min(first + r, last) · stride: a remainder repeats the last row instead of
/// needing code of its own. What comes of the repeats is never read.
template <Index... r>
HWY_INLINE Streams streams(const float* base, Index first, Index last, Index stride, Index step,
                           std::integer_sequence<Index, r...>) {
    return {{(base + HWY_MIN(first + r, last) * stride)...}, step};
}

template <Index... r>
HWY_INLINE void accumulate(Tile& sum, const Row& row, const Streams& s, Index t,
                           std::integer_sequence<Index, r...>) {
    (accumulate(sum.rows[r], row, s.from[r][t * s.step]), ...);
}

/// rows[r] = Σ_t s.from[r][t · step] · rows[t · row_stride], t < count.
HWY_INLINE Tile multiply(const float* HWY_RESTRICT rows, Index row_stride, const Streams& s,
                         Index count) {
    Tile sum;
    for (Row& row : sum.rows) row = all_lanes(0.0F);
    for (Index t = 0; t < count; ++t)
        accumulate(sum, load(rows + t * row_stride), s, t, TileRows());
    return sum;
}

template <class Function, Index... r>
HWY_INLINE void for_rows(Tile& tile, const Function& f, std::integer_sequence<Index, r...>) {
    (f(tile.rows[r], r), ...);
}

/// f(row r of the tile, r) for its rows.
template <class Function>
HWY_INLINE void for_rows(Tile& tile, const Function& f) {
    for_rows(tile, f, TileRows());
}

constexpr float kLog2E = 1.44269504F;

HWY_INLINE V bias_in_log2(V bias) {
    return at_least(hn::Set(kTag, kLowestBias), hn::Mul(bias, hn::Set(kTag, kLog2E)));
}
HWY_INLINE V forbid(V bias, V s) {
    const V forbidden = hn::Set(kTag, -std::numeric_limits<float>::infinity());
    return hn::IfThenElse(hn::Eq(bias, forbidden), forbidden, s);
}

/// The bias of key `key`; the repeats of a remainder use the last.
template <class Block>
HWY_INLINE Row bias_row(const Block& block, Index key) {
    const Index at = HWY_MIN(key, block.keys - 1);
    return block.bias_by_key ? all_lanes(block.bias[at]) : load(block.bias + at * group_lanes());
}
template <class Block>
HWY_INLINE void plus_bias(const Block& block, Index j, Tile& s) {
    for_rows(s, [&](Row& row, Index n) HWY_ATTR {
        const Row bias = bias_row(block, j + n);
        row = add(row, {bias_in_log2(bias.a), bias_in_log2(bias.b), bias_in_log2(bias.c)});
    });
}
/// −inf where the bias is: also of a score that is NaN.
template <class Block>
HWY_INLINE void forbid_by_bias(const Block& block, Index j, Tile& s) {
    for_rows(s, [&](Row& row, Index n) HWY_ATTR {
        const Row bias = bias_row(block, j + n);
        row = {forbid(bias.a, row.a), forbid(bias.b, row.b), forbid(bias.c, row.c)};
    });
}

/// B of the tile of S that begins at key j of a block, by the block's cap, bias, slope and distance.
template <class Block>
HWY_INLINE void add_bias(const Block& block, Index j, Tile& s) {
    constexpr bool kHasBias = requires { block.bias; };
    if constexpr (kHasBias)
        if (block.bias != nullptr && block.bias_first) plus_bias(block, j, s);
    if (block.cap != 0.0F)
        for_rows(s, [&](Row& row, Index) HWY_ATTR {
            row = mul(capped_share(row, block.cap), all_lanes(block.cap));
        });
    if constexpr (kHasBias)
        if (block.bias != nullptr && !block.bias_first) plus_bias(block, j, s);
    if (block.slope != 0.0F)
        for_rows(s, [&](Row& row, Index n)
                        HWY_ATTR { row = less_distance(row, block.slope, block.distance, j + n); });
    if constexpr (kHasBias)
        if (block.bias != nullptr) forbid_by_bias(block, j, s);
}

/// out[c] = out[c] · factor + Σ_t rows[t] · matrix[t][c] for every column c of `matrix`, [count, width].
/// `out` has room for a multiple of kTileRows.
HWY_INLINE void add_columns(const float* rows, Index row_stride, const float* matrix, Index count,
                            Index width, const Row& factor, float* out) {
    const Index lanes = group_lanes();
    for (Index c = 0; c < width; c += kTileRows) {
        Tile sum =
            multiply(rows, row_stride, streams(matrix, c, width - 1, 1, width, TileRows()), count);
        for_rows(sum, [=](const Row& row, Index n) HWY_ATTR {
            float* to = out + (c + n) * lanes;
            store(mul_add(load(to), factor, row), to);
        });
    }
}

/// The rows of `allow` that belong to the tile's keys; the repeats of a remainder use the last.
HWY_INLINE Row allowed_row(const float* allow, Index key, Index keys) {
    return load(allow + HWY_MIN(key, keys - 1) * group_lanes());
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // ATTN_FUSED_TILES_INL
