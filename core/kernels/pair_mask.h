#pragma once

#include <span>
#include <vector>

#include "core/masks.h"
#include "core/spec.h"

namespace attn {

/// Queries `first` … first + count − 1 of one head, or any `listed` ones, which a fused kernel takes side
/// by side, and what the mask leaves them.
struct QueryGroup {
    Index first = 0;
    Index count = 0;
    std::vector<Index> listed;  // if not empty: the query of each lane, −1 for none
    KeyRange any;               // outside it no query of the group attends to a key
    KeyRange none;              // a gap in it where none does either
    KeyRange all;               // inside it every one attends to every key: no mask is looked at
    std::vector<KeyRuns> rows;  // of each query, before the custom mask

    /// Whether some query may attend to one of `keys`.
    bool attends(KeyRange keys) const {
        const bool in_gap = keys.begin >= none.begin && keys.end <= none.end;
        return keys.begin < keys.end && keys.begin < any.end && keys.end > any.begin && !in_gap;
    }

    Index query(Index lane) const { return listed.empty() ? first + lane : listed[lane]; }
};

/// Which pairs of one head attend, by group and key tile. Causal, window, block and padding cost a tile
/// nothing where they allow or forbid all of it.
class PairMask {
  public:
    /// `every_tile`: no tile counts as wholly allowed, so that `fill` tells about each pair.
    PairMask(const AttentionSpec& spec, const Dimensions& size, Index b, Index h, bool every_tile)
        : spec_(spec), size_(size), b_(b), h_(h), every_tile_(every_tile) {}

    QueryGroup group(Index first, Index count) const;
    /// Of any queries; −1: none, which attends to nothing.
    QueryGroup group(std::span<const Index> queries) const;
    /// How many keys query i may attend to.
    Index allowed_keys(Index i) const;

    /// allow[(j − keys.begin) · lanes + lane] = 1 where the lane's query attends to key j, else 0, in
    /// those tiles of `tile` keys that do not lie in group.all. Lanes without a query get 0. A bias of −∞ counts with
    /// every_tile alone: elsewhere the kernels read it from the bias.
    void fill(const QueryGroup& group, KeyRange keys, Index tile, Index lanes, float* allow) const;

    /// allow[j − keys.begin] = 1 where the lane's query attends to key j, else 0.
    void fill_row(const QueryGroup& group, Index lane, KeyRange keys, float* allow) const;

    /// Whether dropout is on; then the factor of each pair, 0 or 1/(1 − p), laid out as `fill` does.
    bool drops() const { return spec_.drops(); }
    void fill_dropout(const QueryGroup& group, KeyRange keys, Index lanes, float* keep) const;

  private:
    void set_ranges(QueryGroup& group) const;
    void fill_key(const QueryGroup& group, Index j, Index lanes, float* allow) const;
    void forbid_custom(const QueryGroup& group, KeyRange keys, Index lanes, float* allow) const;
    void forbid_by_bias(const QueryGroup& group, KeyRange keys, Index lanes, float* allow) const;

    const AttentionSpec& spec_;
    const Dimensions& size_;
    Index b_;
    Index h_;
    bool every_tile_;
};

}  // namespace attn
