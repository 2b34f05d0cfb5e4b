#pragma once

#include <span>
#include <vector>

#include "core/kernels/fused_buffers.h"
#include "core/large/pool_kernels.h"
#include "core/large/row_pool.h"
#include "core/large/weight_source.h"

namespace attn::large {

/// Keys that meet one group of queries after another while they are in a near cache.
inline constexpr Index kBlockKeys = 128;

/// The block size for runs of `run` keys: whole runs where they fit.
Index block_keys(Index run);

/// Some groups of queries of one head, laid out for the kernels, and what the mask leaves them.
/// G = query_group_lanes(). One thread's.
class QueryLanes {
  public:
    /// Room for `groups` of them.
    QueryLanes(const WeightSource& source, Head head, Index groups, const HeldRows* held = nullptr);

    /// Group `g` holds G queries; −1: none, which attends to nothing.
    void set(Index g, std::span<const Index> queries);
    const QueryGroup& group(Index g) const { return groups_[g]; }
    /// What B of a query is larger by here, in units of log2: near_position(), less the shift of its bias. −1: nothing.
    double far(Index query) const;
    /// The keys that any of the first `count` groups attends to; an empty range when none does.
    KeyRange any(Index count) const;

    /// Keys `part` for group `g`, at most kBlockKeys of them and all in group(g).any. Runs of `run` keys
    /// start at key `origin`. Its mask, distances and bias live until the next call.
    PoolBlock block(Index g, KeyRange part, Index origin, Index run);

  private:
    float* qt(Index g) { return qt_ + g * Carve::rounded(size_.d_k * lanes_); }

    const float* query_row(Index i) const;
    double bias_shift(Index query) const;
    void set_bias(Index g, KeyRange part, PoolBlock& block);
    const float* key_row(Index j) const;

    const WeightSource& source_;
    const HeldRows* held_;  // null: `source_` has every row
    const Dimensions& size_;
    Head head_;
    PairMask mask_;
    Finish finish_;
    Index lanes_;
    std::vector<QueryGroup> groups_;
    std::vector<float> factors_;  // factor · log2 e, once a column of Q
    std::vector<float> rows_;     // [G, d_k], gathered
    std::vector<float> shifts_;   // [groups, G]: subtracted from the bias of a row
    AlignedFloats floats_;
    float* qt_ = nullptr;
    float* allow_ = nullptr;     // [kBlockKeys, G]
    float* distance_ = nullptr;  // [G]
    float* bias_ = nullptr;      // [kBlockKeys, G], with a bias
};

}  // namespace attn::large
