// i query, j key, c column; S scores in units of log2, B what soft cap and ALiBi make of them, L = m + log_sum their
// logsumexp, P = 2^(B − L), d_ = gradient of. Where neither is on, B is S.
//
// Why it is fast. Neither P nor d_S is ever stored whole: a chunk of 96 queries x 96 keys of each
// (36 KiB, second-level cache) is computed from Q, K and the logsumexp, used by the three products
// that need it and overwritten. Five products of 2 d FLOP a pair instead of the four of a stored P:
// recomputing S costs less than reading it back from memory.
// forward:  S = factor Q Kᵀ,  P = 2^(S log2 e − L),  O = P V
// so        d_V = Pᵀ d_O,  d_P = d_O Vᵀ,  d_S = P ∘ (d_P − rowsum(d_O ∘ O)),
//           d_Q = factor d_S K,  d_K = factor d_Sᵀ Q
// S, d_P and d_Q use the 4 x G tile of fused_tiles.inl. d_K and d_V sum over queries, so there columns lie
// in the lanes: 6 keys x 2 vectors, again 12 sums in 16 registers, with a packed panel of two vectors'
// columns in the first-level cache.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/fused_backward.cpp"
#include "core/kernels/highway_targets.h"

#include "core/kernels/fused_backward.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/fused_tiles.inl"
#include "core/spec_arrays.h"

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

/// P of one tile of keys: 2^(B − m − log_sum), 0 where forbidden. With a cap also 1 − tanh²(S / cap), where d_S will be.
HWY_INLINE Tile weights(const KeyBlock& block, const GroupGradient& group, Index j, bool masked,
                        const PairSpans& out) {
    Tile s = multiply(group.qt, group_lanes(),
                      streams(block.k, j, block.keys - 1, block.d_k, 1, TileRows()), block.d_k);
    const Row top = load(group.max);
    const Row log_sum = load(group.log_sum);
    const Row zero = all_lanes(0.0F);
    if (block.bias != nullptr && block.bias_first) plus_bias(block, j, s);
    if (block.cap != 0.0F)
        for_rows(s, [&](Row& row, Index n) HWY_ATTR {
            store(cap_slope(row, block.cap), out.d_s + (j + n) * out.stride);
            row = mul(capped_share(row, block.cap), all_lanes(block.cap));
        });
    if (block.bias != nullptr && !block.bias_first) plus_bias(block, j, s);
    if (block.slope != 0.0F)
        for_rows(s, [&](Row& row, Index n)
                        HWY_ATTR { row = less_distance(row, block.slope, block.distance, j + n); });
    if (block.bias != nullptr) forbid_by_bias(block, j, s);
    for_rows(s, [&](Row& row, Index n) HWY_ATTR {
        row = exp2(at_most_zero(sub(sub(row, top), log_sum)));  // log_sum rounds: it may pass 0
        if (masked) row = choose(allowed_row(block.allow, j + n, block.keys), row, zero);
    });
    return s;
}

/// d_S of one tile of keys whose P has been stored at `p`; with dropout P becomes what d_V needs, P · keep.
HWY_INLINE Tile score_gradients(const KeyBlock& block, const GroupGradient& group, Index j,
                                bool masked, const PairSpans& out) {
    Tile d = multiply(group.d_ot, group_lanes(),
                      streams(block.v, j, block.keys - 1, block.d_v, 1, TileRows()), block.d_v);
    const Row row_sum = load(group.row_sum);
    const Row zero = all_lanes(0.0F);
    for_rows(d, [&](Row& row, Index n) HWY_ATTR {
        float* at = out.p + (j + n) * out.stride;
        const Row p = load(at);
        if (block.keep != nullptr) {
            const Row keep = allowed_row(block.keep, j + n, block.keys);
            row = mul(row, keep);
            store(mul(p, keep), at);
        }
        row = mul(p, sub(row, row_sum));
        Row d_bias = row;
        if (block.cap != 0.0F) row = mul(row, load(out.d_s + (j + n) * out.stride));
        if (masked) row = choose(allowed_row(block.allow, j + n, block.keys), row, zero);
        if (out.d_bias != nullptr) {
            if (masked) d_bias = choose(allowed_row(block.allow, j + n, block.keys), d_bias, zero);
            store(block.bias_first ? row : d_bias, out.d_bias + (j + n) * group_lanes());
        }
    });
    return d;
}

void differentiate_block_now(const KeyBlock& block, const GroupGradient& group,
                             const PairSpans& out) {
    for (Index j = 0; j < block.keys; j += kTileRows) {
        const bool masked =
            j < block.all.begin || HWY_MIN(j + kTileRows, block.keys) > block.all.end;
        Tile p = weights(block, group, j, masked, out);
        for_rows(
            p, [&](const Row& row, Index n) HWY_ATTR { store(row, out.p + (j + n) * out.stride); });
        Tile d_s = score_gradients(block, group, j, masked, out);
        for_rows(d_s, [&](const Row& row, Index n)
                          HWY_ATTR { store(row, out.d_s + (j + n) * out.stride); });
    }
    if (!block.pairwise)
        add_columns(out.d_s, out.stride, block.k, block.keys, block.d_k, all_lanes(1.0F),
                    group.d_qt);
}

float product_as_d_p_now(const float* x, const float* y, Index count) {
    const hn::CappedTag<float, 1> one;
    auto sum = hn::Zero(one);
    for (Index c = 0; c < count; ++c) sum = hn::MulAdd(hn::Set(one, x[c]), hn::Set(one, y[c]), sum);
    return hn::GetLane(sum);
}

Index panel_columns_now() { return 2 * vector_lanes(); }

void pack_panels_now(const float* rows, Index count, Index width, float* panels) {
    const Index columns = panel_columns_now();
    for (Index first = 0; first < width; first += columns) {
        const Index used = HWY_MIN(columns, width - first);
        for (Index i = 0; i < count; ++i, panels += columns) {
            for (Index c = 0; c < used; ++c) panels[c] = rows[i * width + first + c];
            for (Index c = used; c < columns; ++c) panels[c] = 0.0F;
        }
    }
}

/// One key's part of a panel.
struct Pair {
    V a, b;
};

HWY_INLINE void accumulate(Pair& sum, V a, V b, float y) {
    const V factor = hn::Set(kTag, y);
    sum.a = hn::MulAdd(a, factor, sum.a);
    sum.b = hn::MulAdd(b, factor, sum.b);
}

HWY_INLINE void add_to(const Pair& sum, float* to) {
    const Index n = vector_lanes();
    hn::Store(hn::Add(hn::Load(kTag, to), sum.a), kTag, to);
    hn::Store(hn::Add(hn::Load(kTag, to + n), sum.b), kTag, to + n);
}

static_assert(kSumKeys == 6, "add_panel has a sum for each");

/// Six keys' sums over one panel, added to `to`, whose rows are `width` apart.
HWY_INLINE void add_panel(const KeySums& in, Index key, const float* HWY_RESTRICT panel, float* to,
                          Index width) {
    const auto at = [&](Index r) HWY_ATTR {
        return in.pairs + HWY_MIN(key + r, in.keys - 1) * in.pair_stride;
    };
    const float* s0 = at(0);
    const float* s1 = at(1);
    const float* s2 = at(2);
    const float* s3 = at(3);
    const float* s4 = at(4);
    const float* s5 = at(5);
    const V zero = hn::Zero(kTag);
    Pair r0{zero, zero}, r1 = r0, r2 = r0, r3 = r0, r4 = r0, r5 = r0;
    const Index n = vector_lanes();
    for (Index i = 0; i < in.queries; ++i) {
        const V a = hn::Load(kTag, panel + 2 * i * n);
        const V b = hn::Load(kTag, panel + (2 * i + 1) * n);
        accumulate(r0, a, b, s0[i]);
        accumulate(r1, a, b, s1[i]);
        accumulate(r2, a, b, s2[i]);
        accumulate(r3, a, b, s3[i]);
        accumulate(r4, a, b, s4[i]);
        accumulate(r5, a, b, s5[i]);
    }
    add_to(r0, to);
    add_to(r1, to + width);
    add_to(r2, to + 2 * width);
    add_to(r3, to + 3 * width);
    add_to(r4, to + 4 * width);
    add_to(r5, to + 5 * width);
}

void add_over_queries_now(const KeySums& in) {
    const Index columns = panel_columns_now();
    const Index width = round_up(in.width, columns);
    for (Index c = 0; c < width; c += columns)
        for (Index key = 0; key < in.keys; key += kSumKeys)
            add_panel(in, key, in.panels + c / columns * in.panel_stride, in.sums + key * width + c,
                      width);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {

HWY_EXPORT(differentiate_block_now);
HWY_EXPORT(product_as_d_p_now);
HWY_EXPORT(panel_columns_now);
HWY_EXPORT(pack_panels_now);
HWY_EXPORT(add_over_queries_now);

void differentiate_block(const KeyBlock& block, const GroupGradient& group, const PairSpans& out) {
    HWY_DYNAMIC_DISPATCH(differentiate_block_now)(block, group, out);
}

float product_as_d_p(std::span<const float> d_context, std::span<const float> context) {
    return HWY_DYNAMIC_DISPATCH(product_as_d_p_now)(d_context.data(), context.data(),
                                                    std::ssize(context));
}

Index panel_columns() { return HWY_DYNAMIC_DISPATCH(panel_columns_now)(); }

Index panel_width(Index width) { return round_up(width, panel_columns()); }

void pack_panels(const float* rows, Index count, Index width, float* panels) {
    HWY_DYNAMIC_DISPATCH(pack_panels_now)(rows, count, width, panels);
}

void add_over_queries(const KeySums& sums) { HWY_DYNAMIC_DISPATCH(add_over_queries_now)(sums); }

}  // namespace attn
#endif  // HWY_ONCE
