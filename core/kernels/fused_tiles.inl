// Tiles that both fused kernels are made of, compiled once for each instruction set (so no #pragma once:
// the toggle below is Highway's guard).
// G = 3 vectors of queries side by side, a "lane" each; 16 registers hold 4 x G sums, 3 vectors and
// one broadcast, so that the inner loop is 7 loads for 12 multiply-adds.
// Tried and lost: 6 x 2 vectors (74-99 % of peak alone), 3 x 4 (spills), unrolling by hand (g++ spills).

#if defined(ATTN_FUSED_TILES_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTN_FUSED_TILES_INL
#undef ATTN_FUSED_TILES_INL
#else
#define ATTN_FUSED_TILES_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

constexpr D kTag;

/// Keys or columns of a tile.
constexpr Index kTileRows = 4;

HWY_INLINE Index vector_lanes() { return static_cast<Index>(hn::Lanes(kTag)); }
HWY_INLINE Index group_lanes() { return 3 * vector_lanes(); }

/// One number for each query of a group.
struct Row {
    V a, b, c;
};

struct Tile {
    Row r0, r1, r2, r3;
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

/// Four streams of numbers, `step` apart, that multiply the same rows.
struct Streams {
    const float* s0;
    const float* s1;
    const float* s2;
    const float* s3;
    Index step;
};

/// Rows base + min(first + r, last) · stride: a remainder repeats the last row instead of needing code
/// of its own. What comes of the repeats is never read.
HWY_INLINE Streams streams(const float* base, Index first, Index last, Index stride, Index step) {
    const auto at = [=](Index r) HWY_ATTR { return base + HWY_MIN(first + r, last) * stride; };
    return {at(0), at(1), at(2), at(3), step};
}

/// r_n = Σ_t s_n[t · step] · rows[t · row_stride], t < count.
HWY_INLINE Tile multiply(const float* HWY_RESTRICT rows, Index row_stride, const Streams& s,
                         Index count) {
    const Row zero = all_lanes(0.0F);
    Tile sum{zero, zero, zero, zero};
    for (Index t = 0; t < count; ++t) {
        const Row row = load(rows + t * row_stride);
        accumulate(sum.r0, row, s.s0[t * s.step]);
        accumulate(sum.r1, row, s.s1[t * s.step]);
        accumulate(sum.r2, row, s.s2[t * s.step]);
        accumulate(sum.r3, row, s.s3[t * s.step]);
    }
    return sum;
}

/// f(row n of the tile, n) for its rows.
template <class Function>
HWY_INLINE void for_rows(Tile& tile, const Function& f) {
    f(tile.r0, 0);
    f(tile.r1, 1);
    f(tile.r2, 2);
    f(tile.r3, 3);
}

/// out[c] = out[c] · factor + Σ_t rows[t] · matrix[t][c] for every column c of `matrix`, [count, width].
/// `out` has room for a multiple of kTileRows.
HWY_INLINE void add_columns(const float* rows, Index row_stride, const float* matrix, Index count,
                            Index width, const Row& factor, float* out) {
    const Index lanes = group_lanes();
    for (Index c = 0; c < width; c += kTileRows) {
        Tile sum = multiply(rows, row_stride, streams(matrix, c, width - 1, 1, width), count);
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
