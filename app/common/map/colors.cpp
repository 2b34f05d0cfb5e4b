#include "app/common/map/colors.h"

#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

#include "app/common/colormap.h"
#include "app/common/format.h"
#include "app/common/map/state.h"
#include "app/common/map/text.h"
#include "app/common/number_style.h"
#include "core/large/tiles.h"
#include "core/spec.h"

namespace attn::view {
namespace {

constexpr double kMostDecades = 8.0;
constexpr int kRampColors = 256;
constexpr double kGrey = 0.45;  // how far the colour of an estimate goes towards its grey

// A float without its sign is exponent and mantissa: its upper 14 bits are 64 steps an octave.
constexpr int kDroppedBits = 17;
constexpr std::size_t kEntries = std::size_t{1} << 14;
constexpr std::size_t kInfinity = 0x7F800000U >> kDroppedBits;

std::size_t entry_of(float weight) {
    return (std::bit_cast<std::uint32_t>(weight) & 0x7FFFFFFFU) >> kDroppedBits;
}

/// The middle of the weights of an entry.
double weight_of(std::size_t entry) {
    const auto bits = static_cast<std::uint32_t>(entry) << kDroppedBits;
    return std::bit_cast<float>(bits | (1U << (kDroppedBits - 1)));
}

Color greyed(Color color) {
    const auto grey = static_cast<std::uint8_t>(
        std::lround(0.2126 * color.r + 0.7152 * color.g + 0.0722 * color.b));
    return blend(color, {grey, grey, grey, 255}, kGrey);
}

double half_decade_below(double weight) {
    return std::pow(10.0, std::floor(2.0 * std::log10(weight) + 1e-9) / 2.0);
}
double half_decade_above(double weight) {
    return std::pow(10.0, std::ceil(2.0 * std::log10(weight) - 1e-9) / 2.0);
}

/// The next of 1, 2, 5 · 10^n.
double round_above(double weight) {
    const double decade = std::pow(10.0, std::floor(std::log10(weight) + 1e-9));
    for (const double step : {1.0, 2.0, 5.0})
        if (weight <= step * decade * (1.0 + 1e-9)) return step * decade;
    return 10.0 * decade;
}

const std::vector<float>& pooled(const large::Texels& texels, large::Pooling pooling) {
    if (pooling == large::Pooling::mean) return texels.mean;
    return pooling == large::Pooling::max ? texels.max : texels.log_mean;
}

/// The diverging colours from one end to the other, evenly.
std::vector<Color> score_ramp(ThemeName name, int count) {
    std::vector<Color> ramp;
    for (int n = 0; n < count; ++n)
        ramp.push_back(
            color_of({ColorScale::diverging, -1.0, 1.0}, 2.0 * n / (count - 1) - 1.0, name));
    return ramp;
}

/// A pixel for each texel: `color(n, forbidden)`.
template <class ColorOf>
Image painted(const large::Texels& texels, std::size_t count, ColorOf color) {
    Image image{static_cast<int>(texels.columns), static_cast<int>(texels.rows), {}};
    image.rgba.resize(4 * count);
    for (std::size_t n = 0; n < count; ++n) {
        const Color pixel = color(n, !texels.allowed.empty() && texels.allowed[n] == 0);
        std::memcpy(&image.rgba[4 * n], &pixel, sizeof pixel);
    }
    return image;
}

// ---- legends

constexpr int kLegendColors = 33;

void add_decades(MapLegend& legend, const WeightRange& range) {
    const double span = std::log10(range.high / range.low);
    const int first = static_cast<int>(std::ceil(std::log10(range.low) - 1e-6));
    const int last = static_cast<int>(std::floor(std::log10(range.high) + 1e-6));
    for (int n = first; n <= last; ++n)
        legend.ticks.push_back({(n - std::log10(range.low)) / span, power_of_ten(n)});
}

MapLegend titled_legend(std::string title, bool masks, ThemeName name) {
    MapLegend legend;
    legend.title = std::move(title);
    if (masks) legend.masked = "masked";
    legend.masked_color = theme(name).masked;
    legend.nan_color = theme(name).nan;
    return legend;
}

std::string percent_text(double percent) { return significant(percent, 6) + " %"; }

std::string note(const MapColors& colors) {
    const char* scale = colors.log_scale ? "logarithmic" : "linear";
    if (colors.low_percentile <= 0.0 && colors.high_percentile >= 100.0)
        return fmt::format("the whole range of the view, rounded outwards, {}", scale);
    return fmt::format("percentiles {} to {} of the view, rounded outwards, {}",
                       percent_text(colors.low_percentile), percent_text(colors.high_percentile),
                       scale);
}

}  // namespace

double largest_weight(const large::Tile& tile) {
    double most = 0.0;
    for (const float weight : tile.texels.max)
        if (std::isfinite(weight)) most = std::max(most, static_cast<double>(weight));
    return most;
}

double position(const WeightRange& range, double weight) {
    if (range.log_scale) return std::log(weight / range.low) / std::log(range.high / range.low);
    const double share = (weight - range.low) / (range.high - range.low);
    return range.root ? std::sqrt(std::max(share, 0.0)) : share;
}

WeightRange weight_range(double low, double high, bool log_scale) {
    if (!(high > 0.0) || !std::isfinite(high)) return {log_scale ? 1e-4 : 0.0, 1.0, log_scale};
    if (!log_scale) return {0.0, round_above(high), false};
    const double top = half_decade_above(high);
    const double least = top * std::pow(10.0, -kMostDecades);
    const double bottom = std::isfinite(low) && low > least ? half_decade_below(low) : least;
    return {std::min(bottom, top / 10.0), top, true};
}

std::vector<Color> weight_ramp(ThemeName name, bool estimated, int count, ColorMap map) {
    std::vector<Color> ramp;
    for (int n = 0; n < count; ++n) {
        const Color color =
            color_at(ColorScale::unit, static_cast<double>(n) / (count - 1), name, map);
        ramp.push_back(estimated ? greyed(color) : color);
    }
    return ramp;
}

WeightPalette::WeightPalette(const WeightRange& range, ThemeName name, bool estimated)
    : by_bits_(kEntries, theme(name).nan) {
    const std::vector<Color> ramp = weight_ramp(name, estimated, kRampColors, range.map);
    const std::size_t first = entry_of(static_cast<float>(range.low));
    const std::size_t last = entry_of(static_cast<float>(range.high));
    for (std::size_t n = 0; n <= kInfinity; ++n) {
        double t = n < first ? 0.0 : 1.0;
        if (n >= first && n <= last) t = std::clamp(position(range, weight_of(n)), 0.0, 1.0);
        by_bits_[n] = ramp[static_cast<std::size_t>(std::lround(t * (kRampColors - 1)))];
    }
}

Color WeightPalette::color(float weight) const { return by_bits_[entry_of(weight)]; }

Image paint_tile(const large::Tile& tile, large::Pooling pooling, const WeightRange& range,
                 ThemeName name) {
    const large::Texels& texels = tile.texels;
    const WeightPalette palette(range, name, tile.origin != large::TileOrigin::exact);
    const std::vector<float>& weights = pooled(texels, pooling);
    const bool logarithms = pooling == large::Pooling::log_mean;
    return painted(texels, weights.size(), [&](std::size_t n, bool forbidden) {
        if (forbidden && !std::isnan(texels.mean[n])) return theme(name).masked;
        return palette.color(logarithms ? std::exp(weights[n]) : weights[n]);
    });
}

double score_range(double low, double high) {
    const double most = std::max(std::abs(low), std::abs(high));
    return most > 0.0 && std::isfinite(most) ? round_above(most) : 1.0;
}

Color infinite_color(ThemeName name) { return theme(name).warning; }

Color clipped_color(ThemeName name) {
    return blend(theme(name).background, theme(name).warning, 0.45);
}

Image paint_scores(const large::Tile& tile, double high, ThemeName name) {
    const std::vector<float>& scores = tile.texels.mean;
    const std::vector<Color> ramp = score_ramp(name, kRampColors);
    return painted(tile.texels, scores.size(), [&](std::size_t n, bool forbidden) {
        if (forbidden) return theme(name).masked;
        if (std::isnan(scores[n])) return theme(name).nan;
        if (std::isinf(scores[n])) return infinite_color(name);
        const double t = std::clamp(0.5 + 0.5 * static_cast<double>(scores[n]) / high, 0.0, 1.0);
        return ramp[static_cast<std::size_t>(std::lround(t * (kRampColors - 1)))];
    });
}

Image paint_overview(const large::Tile& tile, const MapColors& colors, ColorMap map, bool root,
                     ThemeName name) {
    std::vector<float> weights = pooled(tile.texels, colors.pooling);
    std::erase_if(weights, [](float weight) { return !std::isfinite(weight); });
    const auto percentile = [&](double percent) {
        if (weights.empty()) return 0.0;
        const auto n =
            static_cast<std::ptrdiff_t>(percent / 100.0 * static_cast<double>(weights.size() - 1));
        std::nth_element(weights.begin(), weights.begin() + n, weights.end());
        const double weight = weights[n];
        return colors.pooling == large::Pooling::log_mean ? std::exp(weight) : weight;
    };
    const double low = percentile(colors.low_percentile);
    const double high = percentile(colors.high_percentile);
    WeightRange range = weight_range(low, high, colors.log_scale && !root);
    range.map = map;
    range.root = root;
    if (const double most = root ? largest_weight(tile) : 0.0; most > 0.0) range.high = most;
    return paint_tile(tile, colors.pooling, range, name);
}

MapLegend map_legend(const WeightRange& range, const MapColors& colors, Index side, bool masks,
                     ThemeName name) {
    MapLegend legend = titled_legend(texel_text(colors.pooling, side), masks, name);
    legend.colors = weight_ramp(name, false, kLegendColors, range.map);
    if (range.log_scale)
        add_decades(legend, range);
    else if (range.root)
        for (const double weight : {0.0, 0.01, 0.1, 0.5, range.high}) {
            if (weight <= range.high)
                legend.ticks.push_back(
                    {position(range, weight), without_leading_zero(tick(weight))});
        }
    else
        legend.ticks = {{0.0, "0"}, {0.5, tick(range.high / 2.0)}, {1.0, tick(range.high)}};
    if (!range.root) legend.note = note(colors);
    return legend;
}

MapLegend score_legend(double high, const AttentionSpec& spec, Index side, bool masks,
                       ThemeName name) {
    MapLegend legend = titled_legend(score_description(spec, side), masks, name);
    legend.colors = score_ramp(name, kLegendColors);
    legend.ticks = {{0.0, tick(-high)}, {0.5, "0"}, {1.0, tick(high)}};
    legend.infinite_color = infinite_color(name);
    legend.note = "percentiles of the view, rounded outwards, the same above and below 0";
    return legend;
}

}  // namespace attn::view
