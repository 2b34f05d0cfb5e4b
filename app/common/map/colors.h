#pragma once

#include <vector>

#include "app/common/colormap.h"
#include "app/common/image.h"
#include "app/common/map/view.h"
#include "app/common/theme.h"
#include "core/large/tiles.h"

namespace attn::view {
struct MapColors;
}  // namespace attn::view

namespace attn {
struct AttentionSpec;
}  // namespace attn

namespace attn::view {

/// Which pooled weights have the ends of the colour ramp.
struct WeightRange {
    double low = 0.0;
    double high = 1.0;
    bool log_scale = false;
    ColorMap map = ColorMap::violet;
    bool root = false;  // by the square root, as the matrices of a sentence are; without log_scale
    bool operator==(const WeightRange&) const = default;
};

/// The percentiles, rounded outwards to half decades (log) or to 0 and 1, 2, 5 · 10^n (linear), so that
/// panning does not make the colours flicker. A log range spans one to eight decades.
WeightRange weight_range(double low, double high, bool log_scale);

/// Of its finite weights; 0: none.
double largest_weight(const large::Tile& tile);

/// Where a weight lies in the range, 0…1 and beyond.
double position(const WeightRange& range, double weight);

/// The colours of weights, looked up by the upper bits of a float: 64 steps for each doubling.
class WeightPalette {
  public:
    /// `estimated`: greyer, for what is sampled.
    WeightPalette(const WeightRange& range, ThemeName name, bool estimated);
    /// Of a weight >= 0; NaN has the theme's colour for it.
    Color color(float weight) const;

  private:
    std::vector<Color> by_bits_;
};

/// The colours of a range from its low to its high end, evenly.
std::vector<Color> weight_ramp(ThemeName name, bool estimated, int count,
                               ColorMap map = ColorMap::violet);

/// One pixel for each texel.
Image paint_tile(const large::Tile& tile, large::Pooling pooling, const WeightRange& range,
                 ThemeName name);
/// One pixel for each texel of scores: diverging, ±`high` at the ends; NaN, ±∞ and masked have looks of their own.
Image paint_scores(const large::Tile& tile, double high, ThemeName name);
/// A diverging scale that is symmetrical about 0 and holds both percentiles, rounded outwards.
double score_range(double low, double high);
/// The look of a score that is not finite.
Color infinite_color(ThemeName name);
/// Of a number that is left out of the colours: none of a scale, nor masked, nor NaN.
Color clipped_color(ThemeName name);
MapLegend score_legend(double high, const AttentionSpec& spec, Index side, bool masks,
                       ThemeName name);

/// The same in its own range of colours: percentiles of its texels. `root`: as of WeightRange.
Image paint_overview(const large::Tile& tile, const MapColors& colors, ColorMap map, bool root,
                     ThemeName name);

MapLegend map_legend(const WeightRange& range, const MapColors& colors, Index side, bool masks,
                     ThemeName name);

}  // namespace attn::view
