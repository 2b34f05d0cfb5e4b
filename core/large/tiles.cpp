#include "core/large/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/dimensions.h"
#include "core/large/texel_rows.h"

namespace attn::large {

float Tile::value(Pooling pooling, Index row, Index column) const {
    if (texels.masked(row, column)) return std::numeric_limits<float>::quiet_NaN();
    const std::size_t at = texels.at(row, column);
    switch (pooling) {
        case Pooling::mean:
            return texels.mean[at];
        case Pooling::max:
            return texels.max[at];
        case Pooling::log_mean:
            return std::exp(texels.log_mean[at]);
    }
    return std::numeric_limits<float>::quiet_NaN();
}

std::size_t Tile::bytes() const { return sizeof(Tile) + bytes_of(texels); }

int level_count(const Dimensions& size) {
    int levels = 1;
    for (Index side = kTileTexels; side < std::max(size.tq, size.tk); side *= 2) ++levels;
    return levels;
}

}  // namespace attn::large
