#pragma once

#include <cmath>

#include "app/common/colormap.h"

namespace attn::view {

/// The range of one row of its own: from 0 up to its largest entry, where there is one above 0.
inline ColorRange range_of_row(const ColorRange& whole, std::span<const float> row) {
    float largest = 0.0F;
    for (const float value : row)
        if (std::isfinite(value) && value > largest) largest = value;
    ColorRange own = whole;
    if (largest > 0.0F) own.low = 0.0, own.high = largest;
    return own;
}

}  // namespace attn::view
