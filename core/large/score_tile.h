#pragma once

#include <optional>
#include <stop_token>

#include "core/large/cell.h"
#include "core/large/tiles.h"

namespace attn::large {

/// A tile of scores B = cap · tanh(S / cap) − slope · |p − j|, S = q·k · factor (Finish; without a bias B = S): `mean`
/// of each texel over the pairs that may attend (0 where there are none: such a texel is masked), `allowed`; nothing
/// else is filled. A score that is NaN or infinite makes the mean of its texel NaN or infinite.
///   Σ_ij q_i·k_j = (Σ_i q_i)·(Σ_j k_j)   where every pair may attend
///   Σ_i q_i·(Σ_{j allowed to i} k_j)     where runs of keys are left to each query, from running sums over the keys
/// so that no score is computed one by one but those of a custom mask and of operands that are not finite, and
/// distances add up in closed form. Sums are in double. O(256 · side · d_k) for each operand and 256² d_k for the texels.
/// Under a soft cap every score is computed, in single precision: side² d_k a texel. nullopt when stopped.
std::optional<Tile> score_tile(const WeightSource& source, Head head, const TileId& id,
                               const std::stop_token& stop);

}  // namespace attn::large
