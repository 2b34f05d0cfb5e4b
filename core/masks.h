#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/engine.h"

namespace attn {

/// Keys begin <= j < end; begin == end: none.
struct KeyRange {
    Index begin = 0;
    Index end = 0;
};

/// What causal, window, block and padding leave of row i: each of them allows one run of keys.
KeyRange key_range(const MaskSpec& mask, const Dimensions& size, Index b, Index i);

/// Row i of a mask that broadcasts: an axis of extent 1 counts for every index. One entry when its
/// key axis is 1.
std::span<const std::uint8_t> broadcast_row(const Mask& mask, Index b, Index h, Index i);

/// Whether query i of head h may attend to key j in batch entry b: the AND of every mask in `mask`.
bool may_attend(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i, Index j);

/// One row of it: allowed[j] = 1 where query i may attend to key j, else 0. Returns how many.
Index fill_allowed(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i,
                   std::span<std::uint8_t> allowed);

/// The pairs of row i that take part in sums over keys: the allowed ones, and in an empty row under
/// EmptyRows::nan all of them, so that its NaN travels. Returns how many keys are allowed.
Index fill_contributing(const AttentionSpec& spec, const Dimensions& size, Index b, Index h,
                        Index i, std::span<std::uint8_t> contributes);

/// The same for all pairs: [B,H,Tq,Tk], 1 = may attend.
Mask materialise(const MaskSpec& mask, const Dimensions& size);

/// Every axis of a mask's shape must be 1 or that of [B,H,Tq,Tk].
Result<void> check_broadcast(const Shape& mask, const Dimensions& size);

/// Brings a boolean mask to the 4-D form that broadcasts: [Tq,Tk] and 4-D pass; 3-D is an error that
/// says which of the two meanings to write ([B,1,Tq,Tk] or [1,H,Tq,Tk]): it is silently wrong
/// elsewhere when B = H. `extents` are the axes as the file gave them, slowest first.
Result<Mask> mask_from_file(std::span<const Index> extents, std::vector<std::uint8_t> values,
                            const Dimensions& size);

}  // namespace attn
