// T tokens, d width of a head; i query, j key, c column; S scores in units of log2, P = 2^(S − m).
//
// Why it is fast. Softmax over keys is vertical when queries lie in the lanes, so neither K nor V is packed
// or transposed: their rows are read as broadcasts. Scores and weights, T² floats each, are never stored: a
// block of 128 keys x G queries (12 KiB with AVX2, 24 with AVX-512) is written, exponentiated and read in
// the first-level cache. m follows the largest score only from 2^kSlack on, so a tile is exponentiated at once,
// while the products of the next one run (3 to 4 % at T = 2048, d = 64 on Zen 5, where a pass over the block
// afterwards took 7 %). A block of K and V comes from memory once for a task of up to 384 queries:
// 8 d T² / 384 bytes instead of the 16 T² and more of storing every stage. P·V and QKᵀ use the same
// tile, see fused_tiles.inl; what is left above the products is one exp2 for each pair, 5 multiply-adds
// beside 2 d.
// Tried and lost: element-wise transposes (3 % at T = 512), tasks of always 384 queries (10 % on two
// threads at T = 512: one waits for the other). Tried on Zen 5 without gain: vrndscaleps and vscalefps in exp2,
// prefetches of the next block of K and V, 64 to 256 keys and 192 to 768 queries, exponentials of the tile in
// registers (g++ calls a function for each row).

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

/// Rows row … of from, columns column …, one by one.
HWY_INLINE void transpose_rest(const MatrixView<const float>& from, Index row, Index column,
                               const float* column_factors, const MatrixView<float>& to) {
    for (Index r = row; r < from.rows; ++r)
        for (Index c = column; c < from.columns; ++c)
            to.data[c * to.stride + r] = from.data[r * from.stride + c] * column_factors[c];
}

#if HWY_TARGET == HWY_SCALAR

void transpose_now(const MatrixView<const float>& from, const float* column_factors,
                   const MatrixView<float>& to) {
    transpose_rest(from, 0, 0, column_factors, to);
}

#else

/// Four rows of four numbers become four columns.
HWY_INLINE void transpose_4x4(const float* from, Index from_stride, const float* factors, float* to,
                              Index to_stride) {
    const hn::FixedTag<float, 4> d;
    const hn::FixedTag<std::uint64_t, 2> pairs;
    const auto factor = hn::LoadU(d, factors);
    const auto r0 = hn::Mul(hn::LoadU(d, from), factor);
    const auto r1 = hn::Mul(hn::LoadU(d, from + from_stride), factor);
    const auto r2 = hn::Mul(hn::LoadU(d, from + 2 * from_stride), factor);
    const auto r3 = hn::Mul(hn::LoadU(d, from + 3 * from_stride), factor);
    const auto low01 = hn::BitCast(pairs, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(pairs, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(pairs, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(pairs, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, to + to_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, to + 2 * to_stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, to + 3 * to_stride);
}

void transpose_now(const MatrixView<const float>& from, const float* column_factors,
                   const MatrixView<float>& to) {
    const Index rows = from.rows / 4 * 4;
    const Index columns = from.columns / 4 * 4;
    for (Index r = 0; r < rows; r += 4)
        for (Index c = 0; c < columns; c += 4)
            transpose_4x4(from.data + r * from.stride + c, from.stride, column_factors + c,
                          to.data + c * to.stride + r, to.stride);
    transpose_rest(from, rows, 0, column_factors, to);
    const MatrixView<const float> upper{from.data, rows, from.columns, from.stride};
    transpose_rest(upper, 0, columns, column_factors, to);
}

#endif

bool is_finite_now(const float* from, Index count) {
    const Row zero = all_lanes(0.0F);
    Row sum = zero;  // NaN of 0 · ∞
    for (Index n = 0; n < count; n += group_lanes()) sum = mul_add(load(from + n), zero, sum);
    const V all = hn::Add(sum.a, hn::Add(sum.b, sum.c));
    return hn::AllTrue(kTag, hn::Eq(all, all));
}

/// How far B may lie above m before m follows, in units of log2: P stays below 2^8.
constexpr float kSlack = 8.0F;

HWY_INLINE bool any_above(const Row& x, const Row& y) {
    return !hn::AllFalse(kTag,
                         hn::Or(hn::Gt(x.a, y.a), hn::Or(hn::Gt(x.b, y.b), hn::Gt(x.c, y.c))));
}

/// m = max(m, top); multiplies l, O and P of the first `keys` of the block by 2^(old m − m), which it returns.
HWY_NOINLINE Row raise_max(const Row& top, const KeyBlock& block, Index keys,
                           const GroupState& state, float* p) {
    const Index lanes = group_lanes();
    const Row old = load(state.max);
    const Row raised = max(old, top);
    const Row shrink = exp2(sub(old, raised));
    const auto multiply = [&](float* row) HWY_ATTR { store(mul(load(row), shrink), row); };
    store(raised, state.max);
    multiply(state.sum);
    for (Index c = 0; c < block.d_v; ++c) multiply(state.ot + c * lanes);
    for (Index j = 0; j < keys; ++j) multiply(p + j * lanes);
    return shrink;
}

/// The largest of each lane.
template <Index... r>
HWY_INLINE Row store_rows(const Tile& tile, float* to, std::integer_sequence<Index, r...>) {
    const Index lanes = group_lanes();
    Row top = tile.rows[0];
    ((store(tile.rows[r], to + r * lanes), top = max(top, tile.rows[r])), ...);
    return top;
}

/// P = 2^(B − m) in place; returns sum + Σ P.
HWY_INLINE Row exponentials(Index keys, const Row& m, Row sum, float* p) {
    const Index lanes = group_lanes();
    for (Index j = 0; j < keys; ++j) {
        const Row e = exp2(sub(load(p + j * lanes), m));
        sum = add(sum, e);
        store(e, p + j * lanes);
    }
    return sum;
}

/// P of every key of the block into `p`, 0 where forbidden. Plain: B is S, every pair is allowed, and tiles are whole.
template <bool plain>
HWY_INLINE void weights(const KeyBlock& block, const GroupState& state, float* p) {
    const Index lanes = group_lanes();
    const Row forbidden = all_lanes(-std::numeric_limits<float>::infinity());
    const Row lift = all_lanes(state.lift);
    const Row slack = all_lanes(state.lift == 0.0F ? kSlack : -state.lift);
    Row sum = all_lanes(0.0F);  // of the block: one sum over all keys would round more
    for (Index j = 0; j < block.keys; j += kTileRows) {
        Tile s = multiply(state.qt, lanes,
                          streams(block.k, j, block.keys - 1, block.d_k, 1, TileRows()), block.d_k);
        if constexpr (!plain) {
            add_bias(block, j, s);
            if (j < block.all.begin || HWY_MIN(j + kTileRows, block.keys) > block.all.end)
                for_rows(s, [&](Row& row, Index n) HWY_ATTR {
                    row = choose(allowed_row(block.allow, j + n, block.keys), row, forbidden);
                });
        }
        float* const tile = p + j * lanes;
        const Row top = store_rows(s, tile, TileRows());
        if (HWY_UNLIKELY(any_above(top, add(load(state.max), slack))))
            sum = mul(sum, raise_max(add(top, lift), block, j, state, p));
        const Index keys = plain ? kTileRows : HWY_MIN(kTileRows, block.keys - j);
        sum = exponentials(keys, load(state.max), sum, tile);
    }
    store(add(load(state.sum), sum), state.sum);
}

HWY_INLINE void drop(const KeyBlock& block, float* p) {
    const Index lanes = group_lanes();
    for (Index j = 0; j < block.keys; ++j)
        store(mul(load(p + j * lanes), load(block.keep + j * lanes)), p + j * lanes);
}

/// O += P V, allowed pairs only.
void add_pairwise(const KeyBlock& block, const float* p, float* ot) {
    const Index lanes = group_lanes();
    for (Index j = 0; j < block.keys; ++j)
        for (Index lane = 0; lane < lanes; ++lane)
            if (block.allow[j * lanes + lane] != 0.0F)
                for (Index c = 0; c < block.d_v; ++c)
                    ot[c * lanes + lane] += p[j * lanes + lane] * block.v[j * block.d_v + c];
}

bool is_plain(const KeyBlock& block) {
    const bool all_allowed = block.all.begin <= 0 && block.keys <= block.all.end;
    return all_allowed && block.bias == nullptr && block.cap == 0.0F && block.slope == 0.0F &&
           block.keys % kTileRows == 0;
}

void attend_block_now(const KeyBlock& block, const GroupState& state, float* p) {
    if (is_plain(block))
        weights<true>(block, state, p);
    else
        weights<false>(block, state, p);
    if (block.keep != nullptr) drop(block, p);
    if (block.pairwise)
        add_pairwise(block, p, state.ot);
    else
        add_columns(p, group_lanes(), block.v, block.keys, block.d_v, all_lanes(1.0F), state.ot);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <bit>
#include <cstdint>

namespace attn {

HWY_EXPORT(group_lanes_now);
HWY_EXPORT(transpose_now);
HWY_EXPORT(is_finite_now);
HWY_EXPORT(attend_block_now);

Index query_group_lanes() { return HWY_DYNAMIC_DISPATCH(group_lanes_now)(); }

void transpose(MatrixView<const float> from, const float* column_factors, MatrixView<float> to) {
    HWY_DYNAMIC_DISPATCH(transpose_now)(from, column_factors, to);
}

bool is_finite(const float* from, Index count) {
    return HWY_DYNAMIC_DISPATCH(is_finite_now)(from, count);
}

float lift_of(Index keys) {
    return static_cast<float>(std::bit_width(static_cast<std::uint64_t>(keys)) + 1);
}

void attend_block(const KeyBlock& block, const GroupState& state, float* p) {
    HWY_DYNAMIC_DISPATCH(attend_block_now)(block, state, p);
}

}  // namespace attn
#endif  // HWY_ONCE
