// r row (a query of one of the heads that share a key/value head), j key, c column; S, P, m as in fused_forward.cpp.
//
// Why it is fast. One query reads K and V once and computes 4 FLOP with each number: memory alone is waited for. While a
// block's keys are read its values are asked for, and the next block's keys while the values are, so that memory is never
// idle. Up to four rows share each load of a key; more rows find the block in the caches.
// Tried and lost: queries in the lanes (24 or 48 of them computed for one).

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/fused_few.cpp"
#include "core/kernels/highway_targets.h"

#include <limits>

#include "core/kernels/fused_few.h"
#include "core/rounding.h"

#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/fused_tiles.inl"
#include "core/spec_arrays.h"

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

Index few_width_now(Index width) { return round_up(width, vector_lanes()); }

/// Asks for `count` floats that are read soon.
HWY_INLINE void ask_for(const float* from, Index count) {
    constexpr Index kLineFloats = 16;
    for (Index c = 0; c < count; c += kLineFloats) hwy::Prefetch(from + c);
}

/// The first `count` lanes from memory, the others 0.
HWY_INLINE V load_first(const float* from, Index count) {
    HWY_ALIGN float lanes[hn::MaxLanes(kTag)] = {};
    for (Index n = 0; n < count; ++n) lanes[n] = from[n];
    return hn::Load(kTag, lanes);
}

/// f(n) for n = 0 … N − 1, each a constant: so that arrays of vectors stay in registers.
template <class Function, Index... n>
HWY_INLINE void each(const Function& f, std::integer_sequence<Index, n...>) {
    (f(std::integral_constant<Index, n>()), ...);
}
template <Index N, class Function>
HWY_INLINE void each(const Function& f) {
    each(f, std::make_integer_sequence<Index, N>());
}

/// sums[r · J + j] += rows[r] · columns[j].
template <Index R, Index J>
HWY_INLINE void add_products(V* sums, const V* rows, const V* columns) {
    each<R * J>([&](auto n)
                    HWY_ATTR { sums[n] = hn::MulAdd(rows[n / J], columns[n % J], sums[n]); });
}

/// p[r][j] = q_r · k_j of R rows and the J keys from `key` on; a remainder repeats the last key.
template <Index R, Index J>
HWY_INLINE void score_tile(const FewBlock& block, const float* q, Index key, float* p) {
    const Index lanes = vector_lanes();
    const Index width = few_width_now(block.d_k);
    const float* keys[J];
    each<J>([&](auto j)
                HWY_ATTR { keys[j] = block.k + HWY_MIN(key + j, block.keys - 1) * block.d_k; });
    V sums[R * J], of_q[R], of_k[J];
    each<R * J>([&](auto n) HWY_ATTR { sums[n] = hn::Zero(kTag); });
    Index c = 0;
    for (; c + lanes <= block.d_k; c += lanes) {
        each<R>([&](auto r) HWY_ATTR { of_q[r] = hn::Load(kTag, q + r * width + c); });
        each<J>([&](auto j) HWY_ATTR { of_k[j] = hn::LoadU(kTag, keys[j] + c); });
        add_products<R, J>(sums, of_q, of_k);
    }
    if (c < block.d_k) {
        each<R>([&](auto r) HWY_ATTR { of_q[r] = hn::Load(kTag, q + r * width + c); });
        each<J>([&](auto j) HWY_ATTR { of_k[j] = load_first(keys[j] + c, block.d_k - c); });
        add_products<R, J>(sums, of_q, of_k);
    }
    each<R * J>([&](auto n) HWY_ATTR {
        p[n / J * kFewKeys + key + n % J] = hn::GetLane(hn::SumOfLanes(kTag, sums[n]));
    });
}

/// S of R rows with every key of the block.
template <Index R>
HWY_INLINE void scores(const FewBlock& block, const float* q, bool first, float* p) {
    constexpr Index kKeys = 8 / R;
    static_assert(kFewKeys % kKeys == 0, "a tile ends inside a row of p");
    for (Index j = 0; j < block.keys; j += kKeys) {
        if (first) ask_for(block.v + j * block.d_v, HWY_MIN(kKeys, block.keys - j) * block.d_v);
        score_tile<R, kKeys>(block, q, j, p);
    }
}

/// B of row r in place; −inf where forbidden, and past the last key.
HWY_INLINE void bias_row(const FewBlock& block, const FewRows& rows, Index r, float* p) {
    const V cap = hn::Set(kTag, block.cap);
    const V forbidden = hn::Set(kTag, -std::numeric_limits<float>::infinity());
    for (Index j = 0; j < block.keys; j += vector_lanes()) {
        V s = hn::Load(kTag, p + j);
        V bias = hn::Zero(kTag);
        if (block.bias != nullptr) bias = hn::Load(kTag, block.bias + r * kFewKeys + j);
        if (block.bias != nullptr && block.bias_first) s = hn::Add(s, bias_in_log2(bias));
        if (block.cap != 0.0F)
            s = hn::Mul(quick_tanh(hn::Mul(s, hn::Set(kTag, 1.0F / block.cap))), cap);
        if (block.bias != nullptr && !block.bias_first) s = hn::Add(s, bias_in_log2(bias));
        if (rows.slope != nullptr)
            s = less_distance(s, hn::Set(kTag, rows.slope[r]), hn::Set(kTag, rows.distance[r]),
                              hn::Iota(kTag, static_cast<float>(j)));
        if (block.bias != nullptr) s = forbid(bias, s);
        if (block.allow != nullptr) {
            const V allow = hn::Load(kTag, block.allow + r * kFewKeys + j);
            s = hn::IfThenElse(hn::Ne(allow, hn::Zero(kTag)), s, forbidden);
        }
        hn::Store(s, kTag, p + j);
    }
    for (Index j = block.keys; j < few_width_now(block.keys); ++j)
        p[j] = -std::numeric_limits<float>::infinity();
}

/// P of row r in place and into its max and sum; returns what the sums so far shrink by.
HWY_INLINE float soften_row(const FewBlock& block, const FewRows& rows, Index r, float* p) {
    const Index lanes = vector_lanes();
    V top = hn::Set(kTag, std::numeric_limits<float>::lowest());
    for (Index j = 0; j < block.keys; j += lanes) top = hn::Max(top, hn::Load(kTag, p + j));
    top = hn::Add(hn::MaxOfLanes(kTag, top), hn::Set(kTag, rows.lift));
    top = hn::Max(hn::Set(kTag, rows.max[r]), top);
    V sum = hn::Zero(kTag);
    for (Index j = 0; j < block.keys; j += lanes) {
        const V e = exp2(hn::Sub(hn::Load(kTag, p + j), top));
        sum = hn::Add(sum, e);
        hn::Store(e, kTag, p + j);
    }
    const float shrink = hn::GetLane(exp2(hn::Sub(hn::Set(kTag, rows.max[r]), top)));
    rows.max[r] = hn::GetLane(top);
    rows.sum[r] = rows.sum[r] * shrink + hn::GetLane(hn::SumOfLanes(kTag, sum));
    for (Index j = 0; j < block.keys && block.keep != nullptr; ++j)
        p[j] *= block.keep[r * kFewKeys + j];
    return shrink;
}

/// O[r] = O[r] · shrink[r] + P[r] V over C vectors of columns from c on, `last` of them in the last vector.
template <Index R, Index C>
HWY_INLINE void value_tile(const FewBlock& block, const float* p, const float* shrink, Index c,
                           Index last, Index following, float* o) {
    const Index lanes = vector_lanes();
    const Index width = few_width_now(block.d_v);
    V sums[R * C], of_p[R], of_v[C];
    each<R * C>([&](auto n) HWY_ATTR {
        const V sum = hn::Load(kTag, o + n / C * width + c + n % C * lanes);
        sums[n] = hn::Mul(sum, hn::Set(kTag, shrink[n / C]));
    });
    for (Index j = 0; j < block.keys; ++j) {
        const float* v = block.v + j * block.d_v + c;
        if (j < following) ask_for(block.k + (block.keys + j) * block.d_k, block.d_k);
        each<C - 1>([&](auto n) HWY_ATTR { of_v[n] = hn::LoadU(kTag, v + n * lanes); });
        v += (C - 1) * lanes;
        of_v[C - 1] = last == lanes ? hn::LoadU(kTag, v) : load_first(v, last);
        each<R>([&](auto r) HWY_ATTR { of_p[r] = hn::Set(kTag, p[r * kFewKeys + j]); });
        add_products<R, C>(sums, of_p, of_v);
    }
    each<R * C>([&](auto n)
                    HWY_ATTR { hn::Store(sums[n], kTag, o + n / C * width + c + n % C * lanes); });
}

/// The same over every column; meanwhile asks for `following` keys behind the block.
template <Index R>
HWY_INLINE void values(const FewBlock& block, const float* p, const float* shrink, Index following,
                       float* o) {
    constexpr Index kVectors = 8 / R;
    const Index lanes = vector_lanes();
    Index c = 0;
    const auto asked = [&] { return c == 0 ? following : 0; };
    for (; c + kVectors * lanes <= block.d_v; c += kVectors * lanes)
        value_tile<R, kVectors>(block, p, shrink, c, lanes, asked(), o);
    for (; c < block.d_v; c += lanes)
        value_tile<R, 1>(block, p, shrink, c, HWY_MIN(lanes, block.d_v - c), asked(), o);
}

/// O[r] = O[r] · shrink + P[r] V over allowed pairs only.
void add_values_pairwise(const FewBlock& block, const float* allow, const float* p, float shrink,
                         float* o) {
    for (Index c = 0; c < block.d_v; ++c) o[c] *= shrink;
    for (Index j = 0; j < block.keys; ++j)
        if (allow == nullptr || allow[j] != 0.0F)
            for (Index c = 0; c < block.d_v; ++c) o[c] += p[j] * block.v[j * block.d_v + c];
}

/// R rows from `row` on against the block.
template <Index R>
void attend_rows(const FewBlock& block, const FewRows& rows, Index row, float* p) {
    scores<R>(block, rows.q + row * few_width_now(block.d_k), row == 0, p);
    float shrink[R];
    for (Index r = 0; r < R; ++r) {
        bias_row(block, rows, row + r, p + r * kFewKeys);
        shrink[r] = soften_row(block, rows, row + r, p + r * kFewKeys);
    }
    float* const o = rows.o + row * few_width_now(block.d_v);
    if (!block.pairwise) return values<R>(block, p, shrink, row == 0 ? block.following : 0, o);
    for (Index r = 0; r < R; ++r)
        add_values_pairwise(block,
                            block.allow == nullptr ? nullptr : block.allow + (row + r) * kFewKeys,
                            p + r * kFewKeys, shrink[r], o + r * few_width_now(block.d_v));
}

void attend_few_now(const FewBlock& block, const FewRows& rows, float* p) {
    Index row = 0;
    for (; row + 4 <= rows.rows; row += 4) attend_rows<4>(block, rows, row, p);
    for (; row + 2 <= rows.rows; row += 2) attend_rows<2>(block, rows, row, p);
    if (row < rows.rows) attend_rows<1>(block, rows, row, p);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {

HWY_EXPORT(few_width_now);
HWY_EXPORT(attend_few_now);

Index few_width(Index width) { return HWY_DYNAMIC_DISPATCH(few_width_now)(width); }

void attend_few(const FewBlock& block, const FewRows& rows, float* p) {
    HWY_DYNAMIC_DISPATCH(attend_few_now)(block, rows, p);
}

}  // namespace attn
#endif  // HWY_ONCE
