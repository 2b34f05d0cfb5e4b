#pragma once

#include <array>
#include <string>

#include "app/files/axes.h"
#include "core/result.h"

namespace attn::files {

/// Queries, keys and values of one array.
struct Packed {
    std::array<Placement, 3> parts;  // Q, K, V
    std::string words;               // "[T, 3, H, d]"
};

/// How an array `qkv` of these extents is to be read, where there is but one way: [T,3,H,d] or [T,H,3,d], both also after a
/// batch axis, [T,3,H·d]; or [T,3·H·d], [B,T,3·H·d] with one head. The option layout chooses where there are several:
/// tokens-first has the axis of 3 after T, joined has q, k and v one after another in the last axis, heads-first is
/// [3,H,T,d] or [3,B,H,T,d]. `what` names the array in the error, which says what is ambiguous.
Packed unpack(const std::vector<Index>& extents, const CallOptions& options,
              const std::string& what);

}  // namespace attn::files
