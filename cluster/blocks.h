#pragma once

#include <optional>

#include "core/masks.h"
#include "core/spec.h"

namespace attn::cluster {

/// Rows and keys of a block of pairs: so many at a time whatever the number of ranks, for the same sums.
inline constexpr Index kBlockRows = 384;
inline constexpr Index kBlockKeys = 768;

/// A block of pairs as a call of its own, of the scores' operands.
struct Block {
    AttentionSpec spec;  // with a mask where some of the pairs may attend and some may not
    /// Under ALiBi a query may stand before key 0, a call's not: `pad` keys that nobody attends to go before it, and the
    /// queries stand `nearer` to the keys than they do, which makes all scores of a row larger alike.
    Index pad = 0;
    Index nearer = 0;
};
/// nullopt: no pair of it may attend.
std::optional<Block> block_of(const AttentionSpec& spec, const Dimensions& size, KeyRange rows,
                              KeyRange keys);

}  // namespace attn::cluster
