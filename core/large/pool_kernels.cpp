// j key; B biased scores in units of log2, L logsumexp, P = 2^(B − L) weights; a "run" is keys pooled into one.
//
// Why it is fast. As in fused_forward.cpp queries lie in the lanes, so pooling over keys is vertical: one
// maximum, one exp2 and two additions for each pair beside 2 d_k FLOP of its score. Scores of a block stay in
// the first-level cache. A weight needs its row's logsumexp, which is known after the last key only: instead
// of a second pass over the keys (2 d_k FLOP a pair again), each run leaves its own maximum and sum, 12 bytes
// for `run` pairs, and these are joined at the end: 2^(max − L) turns a run's sum into weights.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/large/pool_kernels.cpp"
#include "core/kernels/highway_targets.h"

#include <limits>

#include "core/large/pool_kernels.h"

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "core/kernels/fused_tiles.inl"

HWY_BEFORE_NAMESPACE();
namespace attn::HWY_NAMESPACE {
namespace {

using large::JoinRuns, large::PoolBlock, large::RowTotals, large::RunRecords, large::TexelSums;

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLowest = std::numeric_limits<float>::lowest();

/// shift(B) of every key of the block into `p`; −inf where forbidden.
template <bool kMasked, bool kBiased, class Shift>
HWY_INLINE void fill_some_scores(const PoolBlock& block, const Shift& shift, float* p) {
    const Index lanes = group_lanes();
    const Row forbidden = all_lanes(-kInfinity);
    for (Index j = 0; j < block.keys; j += kTileRows) {
        Tile s = multiply(block.qt, lanes,
                          streams(block.k, j, block.keys - 1, block.d_k, 1, TileRows()), block.d_k);
        if (kBiased) add_bias(block, j, s);
        for_rows(s, [&](Row& row, Index n) HWY_ATTR {
            row = shift(row);
            if (kMasked) row = choose(allowed_row(block.allow, j + n, block.keys), row, forbidden);
            store(row, p + (j + n) * lanes);
        });
    }
}

/// Two loops: a plain map is 8 % slower where the bias is looked at in each tile.
template <bool kMasked, class Shift>
HWY_INLINE void fill_scores(const PoolBlock& block, const Shift& shift, float* p) {
    if (block.cap == 0.0F && block.slope == 0.0F && block.bias == nullptr)
        fill_some_scores<kMasked, false>(block, shift, p);
    else
        fill_some_scores<kMasked, true>(block, shift, p);
}

/// piece(run, begin, end) for each run of the block: its keys begin … end − 1, counted in the block.
template <class Piece>
HWY_INLINE void for_runs(const PoolBlock& block, const Piece& piece) {
    Index run = block.first / block.run;
    for (Index begin = 0; begin < block.keys; ++run) {
        const Index end = HWY_MIN(block.keys, (run + 1) * block.run - block.first);
        piece(run, begin, end);
        begin = end;
    }
}

// ---- records

struct Record {
    Row max, sum, scores, count;
};

/// Of the scores begin … end − 1 of `p`.
template <bool kMasked>
HWY_INLINE Record summarise(const PoolBlock& block, const float* p, Index begin, Index end) {
    const Index lanes = group_lanes();
    const Row zero = all_lanes(0.0F);
    Record of{all_lanes(kLowest), zero, zero, zero};
    for (Index j = begin; j < end; ++j) {
        const Row s = load(p + j * lanes);
        of.max = max(of.max, s);
        if (kMasked) {
            const Row allow = load(block.allow + j * lanes);
            of.scores = add(of.scores, choose(allow, s, zero));
            of.count = add(of.count, allow);
        } else {
            of.scores = add(of.scores, s);
        }
    }
    for (Index j = begin; j < end; ++j)
        of.sum = add(of.sum, exp2(sub(load(p + j * lanes), of.max)));
    if (!kMasked) of.count = all_lanes(static_cast<float>(end - begin));
    return of;
}

/// Σ 2^(S − max) of both, relative to the larger maximum.
HWY_INLINE void join_sums(Row& max_a, Row& sum_a, const Row& max_b, const Row& sum_b) {
    const Row top = max(max_a, max_b);
    sum_a = mul_add(sum_a, exp2(sub(max_a, top)), mul(sum_b, exp2(sub(max_b, top))));
    max_a = top;
}

HWY_INLINE Record read_record(const float* from, Index fields) {
    const Index lanes = group_lanes();
    return {load(from + large::kMax * lanes), load(from + large::kSum * lanes),
            load(from + large::kScores * lanes),
            fields > large::kCount ? load(from + large::kCount * lanes) : all_lanes(0.0F)};
}

HWY_INLINE void write_record(const Record& record, Index fields, float* to) {
    const Index lanes = group_lanes();
    store(record.max, to + large::kMax * lanes);
    store(record.sum, to + large::kSum * lanes);
    store(record.scores, to + large::kScores * lanes);
    if (fields > large::kCount) store(record.count, to + large::kCount * lanes);
}

/// Adds a piece to the record of its run, whose first piece it is when it is `fresh`.
HWY_INLINE void keep(const Record& piece, bool fresh, Index fields, float* record) {
    if (fresh) {
        write_record(piece, fields, record);
        return;
    }
    Record run = read_record(record, fields);
    join_sums(run.max, run.sum, piece.max, piece.sum);
    run.scores = add(run.scores, piece.scores);
    run.count = add(run.count, piece.count);
    write_record(run, fields, record);
}

template <bool kMasked>
HWY_INLINE void record_pieces(const PoolBlock& block, const RunRecords& records,
                              const RowTotals& totals, float* p) {
    fill_scores<kMasked>(
        block, [](const Row& s) HWY_ATTR { return s; }, p);
    Row top = load(totals.max);
    Row total = load(totals.sum);
    const Index size = records.fields * group_lanes();
    for_runs(block, [&](Index run, Index begin, Index end) HWY_ATTR {
        const Record piece = summarise<kMasked>(block, p, begin, end);
        const Index key = block.first + begin;
        keep(piece, key == run * block.run || key == records.begin, records.fields,
             records.data + run * size);
        join_sums(top, total, piece.max, piece.sum);
    });
    store(top, totals.max);
    store(total, totals.sum);
}

void record_runs_now(const PoolBlock& block, const RunRecords& records, const RowTotals& totals,
                     float* p) {
    if (block.allow != nullptr)
        record_pieces<true>(block, records, totals, p);
    else
        record_pieces<false>(block, records, totals, p);
}

// ---- joining

/// A run's numbers for one vector of queries.
struct Joined {
    V sum, max, log, count;
};

/// Into one row of texels, or lane by lane where a vector's queries belong to several or to none.
HWY_INLINE void add_joined(const Joined& run, const Index* texel_rows, bool one_row, Index column,
                           const TexelSums& out) {
    if (one_row) {
        const Index at = texel_rows[0] * out.stride + column;
        out.sum[at] += hn::GetLane(hn::SumOfLanes(kTag, run.sum));
        out.max[at] = HWY_MAX(out.max[at], hn::GetLane(hn::MaxOfLanes(kTag, run.max)));
        out.log[at] += hn::GetLane(hn::SumOfLanes(kTag, run.log));
        if (out.allowed != nullptr)
            out.allowed[at] +=
                static_cast<std::uint32_t>(hn::GetLane(hn::SumOfLanes(kTag, run.count)));
        return;
    }
    HWY_ALIGN float lanes[4][HWY_MAX_BYTES / sizeof(float)];
    hn::Store(run.sum, kTag, lanes[0]);
    hn::Store(run.max, kTag, lanes[1]);
    hn::Store(run.log, kTag, lanes[2]);
    hn::Store(run.count, kTag, lanes[3]);
    for (Index lane = 0; lane < vector_lanes(); ++lane) {
        if (texel_rows[lane] < 0) continue;
        const Index at = texel_rows[lane] * out.stride + column;
        out.sum[at] += lanes[0][lane];
        out.max[at] = HWY_MAX(out.max[at], lanes[1][lane]);
        out.log[at] += lanes[2][lane];
        if (out.allowed != nullptr) out.allowed[at] += static_cast<std::uint32_t>(lanes[3][lane]);
    }
}

bool same_row(const Index* texel_rows) {
    bool same = texel_rows[0] >= 0;
    for (Index lane = 1; lane < vector_lanes(); ++lane)
        same = same && texel_rows[lane] == texel_rows[0];
    return same;
}

/// Of vector `v` of the group. Where nothing may attend even a NaN row weighs nothing.
void join_vector(const JoinRuns& join, Index v, const TexelSums& out) {
    const Index lanes = group_lanes();
    const Index at = v * vector_lanes();
    const V logsumexp = hn::Load(kTag, join.logsumexp + at);
    const bool one_row = same_row(join.texel_rows + at);
    const bool counted = join.records.fields > large::kCount;
    for (Index r = join.begin; r < join.end; ++r) {
        const float* record = join.records.data + r * join.records.fields * lanes + at;
        const auto field = [&](Index f) HWY_ATTR { return hn::Load(kTag, record + f * lanes); };
        const auto keys = static_cast<float>(HWY_MIN(join.run, join.keys - r * join.run));
        const V count = counted ? field(large::kCount) : hn::Set(kTag, keys);
        const V top = exp2(hn::Sub(field(large::kMax), logsumexp));
        const V log = hn::NegMulAdd(count, logsumexp, field(large::kScores));
        const auto any = hn::Ne(count, hn::Zero(kTag));
        add_joined({hn::IfThenElseZero(any, hn::Mul(field(large::kSum), top)),
                    hn::IfThenElseZero(any, top), hn::IfThenElseZero(any, log), count},
                   join.texel_rows + at, one_row, r, out);
    }
}

void join_runs_now(const JoinRuns& join, const TexelSums& out) {
    for (Index v = 0; v < 3; ++v) join_vector(join, v, out);
}

// ---- pools

/// Of the log2 weights begin … end − 1 of `p`.
template <bool kMasked>
HWY_INLINE Record pool(const PoolBlock& block, const float* p, Index begin, Index end) {
    const Index lanes = group_lanes();
    const Row zero = all_lanes(0.0F);
    Record of{zero, zero, zero, zero};
    for (Index j = begin; j < end; ++j) {
        const Row log = load(p + j * lanes);
        const Row weight = exp2(log);
        of.sum = add(of.sum, weight);
        of.max = max(of.max, weight);
        if (kMasked) {
            const Row allow = load(block.allow + j * lanes);
            of.scores = add(of.scores, choose(allow, log, zero));
            of.count = add(of.count, allow);
        } else {
            of.scores = add(of.scores, log);
        }
    }
    if (!kMasked) of.count = all_lanes(static_cast<float>(end - begin));
    return of;
}

HWY_INLINE void add_to_pool(const Joined& piece, float* to) {
    const Index n = vector_lanes();
    hn::Store(hn::Add(hn::Load(kTag, to), piece.sum), kTag, to);
    hn::Store(hn::Max(hn::Load(kTag, to + n), piece.max), kTag, to + n);
    hn::Store(hn::Add(hn::Load(kTag, to + 2 * n), piece.log), kTag, to + 2 * n);
    hn::Store(hn::Add(hn::Load(kTag, to + 3 * n), piece.count), kTag, to + 3 * n);
}

template <bool kMasked>
HWY_INLINE void pool_pieces(const PoolBlock& block, const float* logsumexp, float* const* pools,
                            float* p) {
    const Row l = load(logsumexp);
    fill_scores<kMasked>(
        block, [l](const Row& s) HWY_ATTR { return sub(s, l); }, p);
    for_runs(block, [&](Index run, Index begin, Index end) HWY_ATTR {
        const Record of = pool<kMasked>(block, p, begin, end);
        const Index at = run * large::kPoolFields * vector_lanes();
        add_to_pool({of.sum.a, of.max.a, of.scores.a, of.count.a}, pools[0] + at);
        add_to_pool({of.sum.b, of.max.b, of.scores.b, of.count.b}, pools[1] + at);
        add_to_pool({of.sum.c, of.max.c, of.scores.c, of.count.c}, pools[2] + at);
    });
}

void add_to_pools_now(const PoolBlock& block, const float* logsumexp, float* const* pools,
                      float* p) {
    if (block.allow != nullptr)
        pool_pieces<true>(block, logsumexp, pools, p);
    else
        pool_pieces<false>(block, logsumexp, pools, p);
}

}  // namespace
}  // namespace attn::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace attn {

HWY_EXPORT(record_runs_now);
HWY_EXPORT(join_runs_now);
HWY_EXPORT(add_to_pools_now);

namespace large {

void record_runs(const PoolBlock& block, const RunRecords& records, const RowTotals& totals,
                 float* scratch) {
    HWY_DYNAMIC_DISPATCH(record_runs_now)(block, records, totals, scratch);
}

void join_runs(const JoinRuns& join, const TexelSums& out) {
    HWY_DYNAMIC_DISPATCH(join_runs_now)(join, out);
}

void add_to_pools(const PoolBlock& block, const float* logsumexp, float* const* pools,
                  float* scratch) {
    HWY_DYNAMIC_DISPATCH(add_to_pools_now)(block, logsumexp, pools, scratch);
}

}  // namespace large
}  // namespace attn
#endif  // HWY_ONCE
