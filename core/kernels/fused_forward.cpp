// T tokens, d width of a head; i query, j key, c column; S scores in units of log2, P = 2^(S − m).
//
// Why it is fast. Softmax over keys is vertical when queries lie in the lanes, so neither K nor V is packed
// or transposed: their rows are read as broadcasts. Scores and weights, [T, T] floats each, are never
// stored: a block of 128 keys x G queries (12 KiB with AVX2) is written and read in the first-level
// cache. Each K and V row comes from L2 once for a block of groups, so memory traffic is
// 8 d T² / 384 bytes instead of the 16 T² and more of storing every stage.
// P·V and QKᵀ use the same 4 x G tile, see fused_tiles.inl.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/fused_forward.cpp"
#include "core/kernels/highway_targets.h"

#include <limits>

#include "core/kernels/fused_forward.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/fused_tiles.inl"

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

Index group_lanes_now() { return group_lanes(); }

void transpose_in_now(const float* rows, Index count, Index width, float factor, float* out) {
    const Index lanes = group_lanes();
    for (Index c = 0; c < width; ++c) {
        for (Index lane = 0; lane < count; ++lane)
            out[c * lanes + lane] = rows[lane * width + c] * factor;
        for (Index lane = count; lane < lanes; ++lane) out[c * lanes + lane] = 0.0F;
    }
}

void transpose_out_now(const float* in, Index count, Index width, const float* factor,
                       float* rows) {
    const Index lanes = group_lanes();
    for (Index lane = 0; lane < count; ++lane)
        for (Index c = 0; c < width; ++c)
            rows[lane * width + c] = in[c * lanes + lane] * factor[lane];
}

/// S of every key of the block into `p`, -inf where forbidden; returns max(m, S).
HWY_INLINE Row scores(const KeyBlock& block, const GroupState& state, float* p) {
    const Index lanes = group_lanes();
    const Row forbidden = all_lanes(-std::numeric_limits<float>::infinity());
    Row top = load(state.max);
    for (Index j = 0; j < block.keys; j += kTileRows) {
        Tile s = multiply(state.qt, lanes,
                          streams(block.k, j, block.keys - 1, block.d_k, 1, TileRows()), block.d_k);
        if (j < block.all.begin || HWY_MIN(j + kTileRows, block.keys) > block.all.end)
            for_rows(s, [&](Row& row, Index n) HWY_ATTR {
                row = choose(allowed_row(block.allow, j + n, block.keys), row, forbidden);
            });
        for_rows(s, [&](const Row& row, Index n) HWY_ATTR {
            top = max(top, row);
            store(row, p + (j + n) * lanes);
        });
    }
    return top;
}

/// P = 2^(S − m) in place; returns Σ P.
HWY_INLINE Row exponentials(Index keys, const Row& top, float* p) {
    const Index lanes = group_lanes();
    Row sum = all_lanes(0.0F);
    for (Index j = 0; j < keys; ++j) {
        const Row e = exp2(sub(load(p + j * lanes), top));
        sum = add(sum, e);
        store(e, p + j * lanes);
    }
    return sum;
}

HWY_INLINE void drop(const KeyBlock& block, float* p) {
    const Index lanes = group_lanes();
    for (Index j = 0; j < block.keys; ++j)
        store(mul(load(p + j * lanes), load(block.keep + j * lanes)), p + j * lanes);
}

/// O = O · factor + P V, allowed pairs only.
void add_pairwise(const KeyBlock& block, const float* p, const Row& factor, float* ot) {
    const Index lanes = group_lanes();
    for (Index c = 0; c < block.d_v; ++c) store(mul(load(ot + c * lanes), factor), ot + c * lanes);
    for (Index j = 0; j < block.keys; ++j)
        for (Index lane = 0; lane < lanes; ++lane)
            if (block.allow[j * lanes + lane] != 0.0F)
                for (Index c = 0; c < block.d_v; ++c)
                    ot[c * lanes + lane] += p[j * lanes + lane] * block.v[j * block.d_v + c];
}

void attend_block_now(const KeyBlock& block, const GroupState& state, float* p) {
    const Row top = scores(block, state, p);
    const Row shrink = exp2(sub(load(state.max), top));
    store(top, state.max);
    store(mul_add(load(state.sum), shrink, exponentials(block.keys, top, p)), state.sum);
    if (block.keep != nullptr) drop(block, p);
    if (block.pairwise)
        add_pairwise(block, p, shrink, state.ot);
    else
        add_columns(p, group_lanes(), block.v, block.keys, block.d_v, shrink, state.ot);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {

HWY_EXPORT(group_lanes_now);
HWY_EXPORT(transpose_in_now);
HWY_EXPORT(transpose_out_now);
HWY_EXPORT(attend_block_now);

Index query_group_lanes() { return HWY_DYNAMIC_DISPATCH(group_lanes_now)(); }

void transpose_in(const float* rows, Index count, Index width, float factor, float* out) {
    HWY_DYNAMIC_DISPATCH(transpose_in_now)(rows, count, width, factor, out);
}

void transpose_out(const float* in, Index count, Index width, const float* factor, float* rows) {
    HWY_DYNAMIC_DISPATCH(transpose_out_now)(in, count, width, factor, rows);
}

void attend_block(const KeyBlock& block, const GroupState& state, float* p) {
    HWY_DYNAMIC_DISPATCH(attend_block_now)(block, state, p);
}

}  // namespace attn
#endif  // HWY_ONCE
