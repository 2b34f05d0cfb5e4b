#pragma once

#include "core/large/preview.h"
#include "core/large/pyramid.h"

namespace attn::large {

/// A tile of a level that blocks make up: exact texel rows where the pyramid has them, the others from
/// the preview, which must reach that level if there are such. `version` is left to the caller.
Tile coarse_tile(const TileId& id, const Pyramid& pyramid, const Preview& preview);

}  // namespace attn::large
