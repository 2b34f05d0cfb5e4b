#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/result.h"
#include "core/tensor.h"

namespace attn {

struct AttentionSpec;
struct Dimensions;
struct MaskSpec;

/// Keys begin <= j < end; begin == end: none.
struct KeyRange {
    Index begin = 0;
    Index end = 0;
};

/// One or two runs of keys with a gap between them; the second is empty where the first holds all.
struct KeyRuns {
    KeyRange first;
    KeyRange second;

    bool split() const { return second.begin < second.end; }
    bool contains(Index j) const {
        return (j >= first.begin && j < first.end) || (j >= second.begin && j < second.end);
    }
    Index count() const { return first.end - first.begin + second.end - second.begin; }
    /// The smallest run that holds both.
    KeyRange hull() const { return {first.begin, split() ? second.end : first.end}; }
};

/// The keys that causal, window, global tokens, block and padding allow in row i: the keys below global_tokens and those of the
/// window, cut by the rest.
KeyRuns key_runs(const MaskSpec& mask, const Dimensions& size, Index b, Index i);

/// Row i of an array that broadcasts: an axis of extent 1 counts for every index. One entry when its key axis is 1.
template <class Value>
std::span<const Value> broadcast_row(const TensorOf<Value>& array, Index b, Index h, Index i) {
    const Shape& shape = array.shape();
    return array.matrix(shape.b == 1 ? 0 : b, shape.h == 1 ? 0 : h).row(shape.t == 1 ? 0 : i);
}

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
Result<void> check_broadcast(const Shape& mask, const Dimensions& size,
                             std::string_view name = "mask");

/// Brings the axes of a mask or bias to the 4-D form that broadcasts: [Tq,Tk] and 4-D pass; [H,Tq,Tk] where only the heads have
/// that number. 3-D is else an error that names the two meanings to write ([B,1,Tq,Tk] or [1,H,Tq,Tk]): it is silently wrong
/// elsewhere when B = H. `extents` are the axes as the file gave them, slowest first.
Result<Shape> four_axes(std::string_view name, std::span<const Index> extents,
                        const Dimensions& size);

/// A boolean mask of those axes.
Result<Mask> mask_from_file(std::span<const Index> extents, std::vector<std::uint8_t> values,
                            const Dimensions& size);

}  // namespace attn
