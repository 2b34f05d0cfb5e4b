#pragma once

#include "core/engine.h"

namespace attn {

/// Whether query i of head h may attend to key j in batch entry b: the AND of every mask in `mask`.
bool may_attend(const MaskSpec& mask, const Dimensions& size, Index b, Index h, Index i, Index j);

/// The same for all pairs: [B,H,Tq,Tk], 1 = may attend.
Mask materialise(const MaskSpec& mask, const Dimensions& size);

/// Brings a boolean mask to the 4-D form that broadcasts: [Tq,Tk] and 4-D pass; 3-D is an error that
/// says which of the two meanings to write ([B,1,Tq,Tk] or [1,H,Tq,Tk]): it is silently wrong
/// elsewhere when B = H. `extents` are the axes as the file gave them, slowest first.
Result<Mask> mask_from_file(std::span<const Index> extents, std::vector<std::uint8_t> values,
                            const Dimensions& size);

}  // namespace attn
