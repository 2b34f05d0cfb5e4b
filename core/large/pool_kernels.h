#pragma once

#include "core/kernels/fused_forward.h"

namespace attn::large {

// The SIMD part of a map of weights: one group of queries against one block of keys, each run of keys
// pooled into one number a query. G = query_group_lanes() queries side by side, in three vectors.
// S = scores in units of log2, B = cap tanh(S / cap) + bias − slope |distance − key|, L = logsumexp in the same,
// P = 2^(B − L) = weight.

/// Some keys of one head and a group of queries.
struct PoolBlock {
    const float* qt = nullptr;  // [d_k, G]: Qᵀ · factor · log2 e
    const float* k = nullptr;   // [keys, d_k], without gaps
    Index keys = 0;
    Index d_k = 0;
    const float* allow = nullptr;  // [keys, G], 0 forbids; nullptr: every pair may attend
    Index first = 0;               // of the keys, counted from the first run's first
    Index run = 1;                 // keys pooled into one; keys first / run · run … share a run
    float cap = 0.0F;              // of S; 0: none
    float slope = 0.0F;            // of ALiBi, in units of log2 a token; 0: none
    const float* distance =
        nullptr;  // [G] position of the query − that of the block's first key; with a slope
    const float* bias = nullptr;  // [keys, G], or [keys] with bias_by_key: as of a KeyBlock
    bool bias_by_key = false, bias_first = false;
};

/// Floats of scratch that the first two kernels need: B of [keys + kTileKeys, G].
inline Index pool_scratch(Index keys) { return (keys + kTileKeys) * query_group_lanes(); }

// ---- weights that will be known when every key has been seen

/// Fields of a record, G floats each: what is known of one run of keys for each query.
///   max = max B, sum = Σ 2^(B − max), scores = Σ B, count = pairs that may attend
/// `count` exists where there is a mask.
enum RecordField : Index { kMax, kSum, kScores, kCount };
constexpr Index record_fields(bool masked) { return masked ? 4 : 3; }

/// The records of a group: run r at r · fields · G.
struct RunRecords {
    float* data = nullptr;
    Index fields = 3;
    Index begin = 0;  // the first key that the group attends to: nothing is recorded before it
};

/// Online softmax of the rows, G each: max = max B, sum = Σ 2^(B − max).
struct RowTotals {
    float* max = nullptr;
    float* sum = nullptr;
};

/// Adds a block of keys, in ascending order, to records and totals.
void record_runs(const PoolBlock& block, const RunRecords& records, const RowTotals& totals,
                 float* scratch);

/// Where joined runs go: sums over the queries of a row of texels. Row-major, `stride` from row to row.
struct TexelSums {
    float* sum = nullptr;              // += Σ P
    float* max = nullptr;              // max P
    float* log = nullptr;              // += Σ (B − L)
    std::uint32_t* allowed = nullptr;  // += pairs that may attend; nullptr without a mask
    Index stride = 0;
};

/// The runs begin … end of a group, once its rows' L are known.
struct JoinRuns {
    RunRecords records;
    Index begin = 0;
    Index end = 0;
    Index run = 1;   // keys of a run
    Index keys = 0;  // of all runs together: the last may be shorter
    const float* logsumexp =
        nullptr;  // [G]; NaN makes NaN of every run with a pair that may attend
    const Index* texel_rows = nullptr;  // [G]; −1: not a query
};
void join_runs(const JoinRuns& join, const TexelSums& out);

// ---- weights whose rows' L are known

/// Fields of a pool, one vector each: sum = Σ P, max = max P, log = Σ (B − L), count = pairs.
inline constexpr Index kPoolFields = 4;

/// Adds a block of keys to the pools of its runs. pools[v]: of vector v of the group, run r at
/// r · kPoolFields vectors; two vectors may share theirs. `logsumexp` [G].
void add_to_pools(const PoolBlock& block, const float* logsumexp, float* const* pools,
                  float* scratch);

}  // namespace attn::large
