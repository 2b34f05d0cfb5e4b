#include "app/common/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace attn::view {
namespace {

constexpr Color rgb(std::uint32_t hex) {
    return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
            static_cast<std::uint8_t>(hex), 255};
}

// Nine stops, joined by straight lines. L* never turns within a half, so the maps also read in grey and to colour-blind
// eyes. They end at mid lightness: one colour of numerals serves a whole matrix.
using Ramp = std::array<Color, 9>;

// Slate below 0, sand above it, both quiet; 0 is close to the background.
constexpr Ramp kDivergingDark{rgb(0x25709e), rgb(0x2d5d7f), rgb(0x2e4b61),
                              rgb(0x2c3945), rgb(0x26282a), rgb(0x403628),
                              rgb(0x57452b), rgb(0x6e542d), rgb(0x87652f)};
constexpr Ramp kDivergingLight{rgb(0x5b9ccd), rgb(0x85b1d7), rgb(0xabc7e2),
                               rgb(0xcedded), rgb(0xf1f4f7), rgb(0xe8d9c8),
                               rgb(0xd8c0a1), rgb(0xc8a77c), rgb(0xb68f57)};
// From the background to the violet of the weights, L* even in the root of the weight.
constexpr Ramp kUnitDark{rgb(0x1f1924), rgb(0x2c1e3d), rgb(0x382455), rgb(0x442a6c), rgb(0x4f3085),
                         rgb(0x5a369e), rgb(0x653db7), rgb(0x7044d0), rgb(0x7a4ceb)};
constexpr Ramp kUnitLight{rgb(0xf9f7fb), rgb(0xf2e7fc), rgb(0xe9d7fb), rgb(0xe0c7f9), rgb(0xd6b8f7),
                          rgb(0xcca9f5), rgb(0xc19af2), rgb(0xb58cf0), rgb(0xa97ded)};

// From the background to red.
constexpr Ramp kErrorsDark{rgb(0x1d191b), rgb(0x281b1e), rgb(0x341d20),
                           rgb(0x3f1e23), rgb(0x4a1f26), rgb(0x66252d),
                           rgb(0x842a34), rgb(0xa22f3c), rgb(0xc23343)};
constexpr Ramp kErrorsLight{rgb(0xfaf7f6), rgb(0xf9eae8), rgb(0xf8ddda),
                            rgb(0xf6d1cd), rgb(0xf4c4bf), rgb(0xf3b3ac),
                            rgb(0xf2a29a), rgb(0xef9188), rgb(0xec7f77)};
// Black to white and white to black: in print more ink is more weight.
constexpr Ramp kGreyDark{rgb(0x16181b), rgb(0x2c2e31), rgb(0x454649), rgb(0x5e6062), rgb(0x7a7b7d),
                         rgb(0x969798), rgb(0xb3b4b5), rgb(0xd1d1d2), rgb(0xf0f0f0)};
constexpr Ramp kGreyLight{rgb(0xfafafa), rgb(0xdbdbdb), rgb(0xbdbdbd), rgb(0x9f9f9f), rgb(0x838383),
                          rgb(0x686868), rgb(0x4e4e4e), rgb(0x353535), rgb(0x1e1e1e)};
// Dark to bright; turned round where the background is bright. Source: van der Walt & Smith 2015, matplotlib's viridis;
// Nuñez, Anderton & Renslow 2018, doi:10.1371/journal.pone.0199239, cividis.
constexpr Ramp kViridis{rgb(0x440154), rgb(0x472d7a), rgb(0x3c518a), rgb(0x2e728e), rgb(0x25908c),
                        rgb(0x2fae7f), rgb(0x63c861), rgb(0xaddc33), rgb(0xfde725)};
constexpr Ramp kCividis{rgb(0x00224e), rgb(0x1a3770), rgb(0x434e6c), rgb(0x60646f), rgb(0x7d7b76),
                        rgb(0x9b9476), rgb(0xbcad6c), rgb(0xddc958), rgb(0xfee838)};

struct Stops {
    const Ramp& ramp;
    bool turned = false;
};
Stops stops_of(ColorScale scale, ThemeName name, ColorMap map) {
    const bool dark = name == ThemeName::dark;
    if (scale == ColorScale::diverging) return {dark ? kDivergingDark : kDivergingLight};
    switch (map) {
        case ColorMap::viridis:
            return {kViridis, !dark};
        case ColorMap::cividis:
            return {kCividis, !dark};
        case ColorMap::grey:
            return {dark ? kGreyDark : kGreyLight};
        case ColorMap::errors:
            return {dark ? kErrorsDark : kErrorsLight};
        case ColorMap::violet:
            break;
    }
    return {dark ? kUnitDark : kUnitLight};
}

// ---- themes

constexpr Theme kDark{
    .name = ThemeName::dark,
    .background = rgb(0x0d1015),
    .surface = rgb(0x13171d),
    .raised = rgb(0x1c222b),
    .line = rgb(0x232a33),
    .control = rgb(0x66727f),
    .text = rgb(0xeceff3),
    .muted = rgb(0x9aa5b1),
    .accent = rgb(0xe8785a),
    .on_accent = rgb(0x0d1015),
    .good = rgb(0x7ccf5a),
    .warning = rgb(0xf0c05a),
    .bad = rgb(0xff8191),
    .masked = rgb(0x0d1015),
    .nan = rgb(0xff5ca8),
    .input = rgb(0xe7f1f1),
    .query = rgb(0x90c7d5),
    .key = rgb(0xe7e755),
    .value = rgb(0xd8ebcb),
    .score = rgb(0xcc7b9f),
    .weight = rgb(0xa779ec),
    .output = rgb(0xd1a7a7),
    .first = rgb(0xf4efe6),
    .second = rgb(0xc4a873),
    .third = rgb(0x7d9cb8),
    .fourth = rgb(0xa1836b),
};

constexpr Theme kLight{
    .name = ThemeName::light,
    .background = rgb(0xfbfaf7),
    .surface = rgb(0xf3f1ec),
    .raised = rgb(0xe7e4dc),
    .line = rgb(0xdcd8cf),
    .control = rgb(0x7c766b),
    .text = rgb(0x1b1f24),
    .muted = rgb(0x5b636c),
    .accent = rgb(0x0054f9),
    .on_accent = rgb(0xffffff),
    .good = rgb(0x2c6b14),
    .warning = rgb(0x7a5200),
    .bad = rgb(0xb3261e),
    .masked = rgb(0xf2f2e5),
    .nan = rgb(0xd4006a),
    .input = rgb(0x16242b),
    .query = rgb(0x126f6e),
    .key = rgb(0x676900),
    .value = rgb(0x2f4432),
    .score = rgb(0xb81757),
    .weight = rgb(0x55127e),
    .output = rgb(0x520200),
    .first = rgb(0x26221d),
    .second = rgb(0x7a5417),
    .third = rgb(0x2c6491),
    .fourth = rgb(0x6c645a),
};

constexpr double kReadable = 4.5;

std::array<double, 256> make_linear() {
    std::array<double, 256> values{};
    for (std::size_t n = 0; n < values.size(); ++n) {
        const double c = static_cast<double>(n) / 255.0;
        values[n] = c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
    }
    return values;
}

double linear(std::uint8_t channel) {
    static const std::array<double, 256> values = make_linear();
    return values[channel];
}

double luminance(Color c) {
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

/// Of a share 0 … 1.
double curved(ColorCurve curve, double share) {
    switch (curve) {
        case ColorCurve::root:
            return std::sqrt(share);
        case ColorCurve::log:
            return share <= kLogFloor ? 0.0 : 1.0 - std::log(share) / std::log(kLogFloor);
        default:
            return share;
    }
}

}  // namespace

ColorRange range_of(ColorScale scale, std::span<const float> values) {
    double largest = 0.0;
    for (const float value : values) {
        const double size = scale == ColorScale::unit ? value : std::abs(value);
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    if (!(largest > 0.0)) largest = 1.0;
    return {scale, scale == ColorScale::unit ? 0.0 : -largest, largest};
}

double position_of(const ColorRange& range, double value) {
    const double t = (value - range.low) / (range.high - range.low);
    if (std::isnan(t)) return 0.5;
    const double even = std::clamp(t, 0.0, 1.0);
    const bool unit = range.scale == ColorScale::unit;
    if (range.curve == ColorCurve::usual) return unit ? std::sqrt(even) : even;
    if (unit) return curved(range.curve, even);
    const double half = curved(range.curve, std::abs(2.0 * even - 1.0)) / 2.0;
    return even < 0.5 ? 0.5 - half : 0.5 + half;
}

Color color_at(ColorScale scale, double position, ThemeName name) {
    return color_at(scale, position, name, ColorMap::violet);
}

Color color_at(ColorScale scale, double position, ThemeName name, ColorMap map) {
    const auto [stops, turned] = stops_of(scale, name, map);
    const double from_low = std::clamp(position, 0.0, 1.0);
    const double t = (turned ? 1.0 - from_low : from_low) * static_cast<double>(stops.size() - 1);
    const std::size_t n = std::min(static_cast<std::size_t>(t), stops.size() - 2);
    return blend(stops[n], stops[n + 1], t - static_cast<double>(n));
}

Color color_of(const ColorRange& range, double value, ThemeName name) {
    return color_at(range.scale, position_of(range, value), name, range.map);
}

Color ink_on(Color fill, ThemeName name) {
    constexpr Color kBlack{0, 0, 0};  // with white, one of them always has a contrast of 4.58
    constexpr Color kWhite{255, 255, 255};
    const Color numeral = name == ThemeName::dark ? rgb(0xf3f0fa) : rgb(0x191426);
    if (contrast(fill, numeral) >= kReadable) return numeral;
    return contrast(fill, kWhite) >= contrast(fill, kBlack) ? kWhite : kBlack;
}

Color Theme::role(Role role) const {
    constexpr Color Theme::*kColors[] = {
        &Theme::input,  &Theme::query, &Theme::key,    &Theme::value, &Theme::score, &Theme::weight,
        &Theme::output, &Theme::first, &Theme::second, &Theme::third, &Theme::fourth};
    return this->*kColors[static_cast<std::size_t>(role)];
}

const Theme& theme(ThemeName name) { return name == ThemeName::dark ? kDark : kLight; }

// (L_lighter + 0.05) / (L_darker + 0.05), L the relative luminance. Source: WCAG 2.1, 1.4.3.
double contrast(Color a, Color b) {
    // by value: std::minmax of two temporaries would give references to the dead
    const auto [darker, lighter] = std::minmax({luminance(a), luminance(b)});
    return (lighter + 0.05) / (darker + 0.05);
}

Color blend(Color a, Color b, double t) {
    const auto mix = [t](std::uint8_t from, std::uint8_t to) {
        return static_cast<std::uint8_t>(std::lround(from + (to - from) * std::clamp(t, 0.0, 1.0)));
    };
    return {mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b), mix(a.a, b.a)};
}

}  // namespace attn::view
