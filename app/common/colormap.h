#pragma once

#include <cstdint>
#include <span>

#include "app/common/theme.h"
#include "core/role.h"

namespace attn::view {

/// How fast colours grow with a number's size, of the range's largest. usual: √ of the unit scale, so that small weights
/// differ from 0, else linear. log: from kLogFloor up; smaller values are as 0.
enum class ColorCurve : std::uint8_t { usual, linear, root, log };
inline constexpr double kLogFloor = 1e-4;

/// The colours of the unit scale. violet: the theme's own, for weights. viridis and cividis: perceptually even, the latter
/// alike to colour-blind eyes. grey: for print. errors: red, for errors alone.
enum class ColorMap : std::uint8_t { violet, viridis, cividis, grey, errors };

/// How the numbers of one grid become colours.
struct ColorRange {
    ColorScale scale = ColorScale::diverging;
    double low = 0.0;   // diverging: −high
    double high = 1.0;  // unit: the largest number
    ColorCurve curve = ColorCurve::usual;
    ColorMap map = ColorMap::violet;
};

/// The place of a value between the ends of the colour bar, 0…1: from low to high as the curve has it, of the diverging
/// scale on both sides of the middle. Clamped. NaN and an empty range give the middle.
double position_of(const ColorRange& range, double value);
/// The colour at that place. The unit scale's lightness (L*) changes evenly along the bar. `map`: of the unit scale; without
/// one violet.
Color color_at(ColorScale scale, double position, ThemeName name);
Color color_at(ColorScale scale, double position, ThemeName name, ColorMap map);

/// The range of a grid: diverging ±max|finite value|, unit from 0 to the largest finite value; 1 where that is not
/// above 0.
ColorRange range_of(ColorScale scale, std::span<const float> values);

/// Safe for colour-blind eyes. Values outside the range are clamped; not
/// finite: theme.masked / theme.nan are the caller's choice.
Color color_of(const ColorRange& range, double value, ThemeName name);
/// The colour of the numerals of a theme, which reads on every colour of both maps; on others black or white where those
/// read better.
Color ink_on(Color fill, ThemeName name);

}  // namespace attn::view
