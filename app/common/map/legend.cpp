#include <cmath>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/format.h"
#include "app/common/map/colors.h"
#include "app/common/map/words.h"

namespace attn::view {
namespace {

constexpr int kLegendColors = 33;

void add_decades(MapLegend& legend, const WeightRange& range) {
    const double span = std::log10(range.high / range.low);
    const int first = static_cast<int>(std::ceil(std::log10(range.low) - 1e-6));
    const int last = static_cast<int>(std::floor(std::log10(range.high) + 1e-6));
    for (int n = first; n <= last; ++n)
        legend.ticks.push_back({(n - std::log10(range.low)) / span, power_of_ten(n)});
}

std::string percent_words(double percent) { return significant(percent, 6) + " %"; }

std::string note(const MapColors& colors) {
    const char* scale = colors.log_scale ? "logarithmic" : "linear";
    if (colors.low_percentile <= 0.0 && colors.high_percentile >= 100.0)
        return fmt::format("the whole range of the view, rounded outwards, {}", scale);
    return fmt::format("percentiles {} to {} of the view, rounded outwards, {}",
                       percent_words(colors.low_percentile), percent_words(colors.high_percentile),
                       scale);
}

}  // namespace

MapLegend map_legend(const WeightRange& range, const MapColors& colors, Index side, bool masks,
                     ThemeName name) {
    MapLegend legend;
    legend.title = texel_words(colors.pooling, side);
    legend.colors = weight_ramp(name, false, kLegendColors);
    if (range.log_scale)
        add_decades(legend, range);
    else
        legend.ticks = {{0.0, "0"}, {0.5, tick(range.high / 2.0)}, {1.0, tick(range.high)}};
    if (masks) legend.masked = "masked";
    legend.masked_color = theme(name).masked;
    legend.nan_color = theme(name).nan;
    legend.note = note(colors);
    return legend;
}

MapLegend score_legend(double high, const AttentionSpec& spec, Index side, bool masks,
                       ThemeName name) {
    MapLegend legend;
    legend.title = score_words(spec, side);
    for (int n = 0; n < kLegendColors; ++n)
        legend.colors.push_back(color_of({ColorScale::diverging, -1.0, 1.0},
                                         2.0 * n / (kLegendColors - 1) - 1.0, name));
    legend.ticks = {{0.0, tick(-high)}, {0.5, "0"}, {1.0, tick(high)}};
    if (masks) legend.masked = "masked";
    legend.masked_color = theme(name).masked;
    legend.nan_color = theme(name).nan;
    legend.infinite_color = infinite_color(name);
    legend.note = "percentiles of the view, rounded outwards, the same above and below 0";
    return legend;
}

}  // namespace attn::view
