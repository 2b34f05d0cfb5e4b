#pragma once

#include <span>

#include "core/dimensions.h"
#include "core/large/weight_map.h"

namespace attn::large {

using Tiles = std::vector<std::shared_ptr<const Tile>>;

/// Percentiles of the pooled weights of those texels of `tiles` that a view shows, by request.pooling. Of a
/// regular choice of at most some hundred thousand texels. What is not finite and masked texels are left out; 0 and 1
/// where none is left.
ColorStats color_stats(std::span<const std::shared_ptr<const Tile>> tiles,
                       const ViewRequest& request, const Dimensions& size);

/// Percentiles of the finite means of score tiles in view, and how many texels there are not finite.
void describe_scores(const ViewRequest& request, const Dimensions& size, ScorePicture& scores);

/// Means and sums along the edges. `tiles`: all of one level that the view touches.
Profiles profiles_of(std::span<const std::shared_ptr<const Tile>> tiles, const MapView& view,
                     const Dimensions& size);

}  // namespace attn::large
