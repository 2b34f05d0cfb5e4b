#pragma once

#include <span>

#include "app/view/common/theme.h"

namespace attn::view {

/// How the numbers of one grid become colours.
struct ColorRange {
    ColorScale scale = ColorScale::diverging;
    double low = 0.0;   // diverging: −high
    double high = 1.0;  // unit: 0…1
};

/// The range of a grid: diverging ±max|finite value| (1 when all are 0), unit 0…1.
ColorRange range_of(ColorScale scale, std::span<const float> values);

/// Perceptually uniform, safe for colour-blind eyes. Values outside the range are clamped; not
/// finite: theme.masked / theme.nan are the caller's choice.
Color color_of(const ColorRange& range, double value, ThemeName name);
/// Black or white ink, whichever is easier to read on `fill`.
Color ink_on(Color fill, ThemeName name);

}  // namespace attn::view
