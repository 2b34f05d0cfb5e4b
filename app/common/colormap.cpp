#include "app/common/colormap.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace attn::view {
namespace {

// A ramp is three stops in OKLCh, joined by straight lines in OKLab, the space in which equal steps
// look equal. Lightness never turns within a half, so the ramps also read in grey and to colour-blind
// eyes; blue against orange is the pair that all common kinds of colour blindness keep apart.
// Source: Ottosson 2020, https://bottosson.github.io/posts/oklab
struct Lch {
    double lightness, chroma, hue_degrees;
};
struct Lab {
    double L, a, b;
};
using Ramp = std::array<Lch, 3>;
using LabRamp = std::array<Lab, 3>;

// The middle is 0: close to the background, so that what is far from 0 stands out.
constexpr Ramp kDivergingDark{{{0.74, 0.135, 255}, {0.25, 0.018, 255}, {0.74, 0.135, 58}}};
constexpr Ramp kDivergingLight{{{0.47, 0.16, 258}, {0.965, 0.006, 85}, {0.47, 0.13, 45}}};
// From the background to the purple of the weights and beyond; the middle is as light as both ends' mean.
constexpr Ramp kUnitDark{{{0.235, 0.020, 280}, {0.5525, 0.15, 298}, {0.87, 0.09, 312}}};
constexpr Ramp kUnitLight{{{0.965, 0.008, 300}, {0.6725, 0.12, 300}, {0.38, 0.17, 295}}};

Lab to_lab(const Lch& c) {
    const double hue = c.hue_degrees * std::numbers::pi / 180.0;
    return {c.lightness, c.chroma * std::cos(hue), c.chroma * std::sin(hue)};
}

LabRamp to_lab(const Ramp& c) { return {to_lab(c[0]), to_lab(c[1]), to_lab(c[2])}; }

const LabRamp& ramp(ColorScale scale, ThemeName name) {
    static const std::array diverging{to_lab(kDivergingDark), to_lab(kDivergingLight)};
    static const std::array unit{to_lab(kUnitDark), to_lab(kUnitLight)};
    return (scale == ColorScale::diverging ? diverging : unit)[name == ThemeName::dark ? 0 : 1];
}

constexpr std::size_t kParts = 4096;

/// From where on light is rounded to the code n + 1: the sRGB curve at (n + ½) / 255.
std::array<double, 255> make_steps() {
    std::array<double, 255> steps{};
    for (std::size_t n = 0; n < steps.size(); ++n) {
        const double s = (static_cast<double>(n) + 0.5) / 255.0;
        steps[n] = s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
    }
    return steps;
}

/// The code at the lower end of each of equal parts of the light: for most of a part the code itself.
std::array<std::uint8_t, kParts + 1> make_starts(const std::array<double, 255>& steps) {
    std::array<std::uint8_t, kParts + 1> starts{};
    for (std::size_t n = 0; n < starts.size(); ++n)
        starts[n] = static_cast<std::uint8_t>(
            std::ranges::upper_bound(steps, static_cast<double>(n) / kParts) - steps.begin());
    return starts;
}

/// sRGB of linear light, rounded. A look-up takes a fraction of a power's time.
std::uint8_t encode(double linear) {
    static const std::array<double, 255> steps = make_steps();
    static const std::array<std::uint8_t, kParts + 1> starts = make_starts(steps);
    const double light = std::clamp(linear, 0.0, 1.0);
    std::size_t code = starts[static_cast<std::size_t>(light * kParts)];
    while (code < steps.size() && steps[code] <= light) ++code;
    return static_cast<std::uint8_t>(code);
}

double cube(double x) { return x * x * x; }

Color to_rgb(const Lab& c) {
    const double l = cube(c.L + 0.3963377774 * c.a + 0.2158037573 * c.b);
    const double m = cube(c.L - 0.1055613458 * c.a - 0.0638541728 * c.b);
    const double s = cube(c.L - 0.0894841775 * c.a - 1.2914855480 * c.b);
    return {encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
            encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
            encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s), 255};
}

// ---- themes

constexpr Color rgb(std::uint32_t hex) {
    return {static_cast<std::uint8_t>(hex >> 16), static_cast<std::uint8_t>(hex >> 8),
            static_cast<std::uint8_t>(hex), 255};
}

constexpr Theme kDark{
    .name = ThemeName::dark,
    .background = rgb(0x0e1217),
    .surface = rgb(0x151a21),
    .raised = rgb(0x1f262f),
    .line = rgb(0x2b343f),
    .control = rgb(0x73808d),
    .text = rgb(0xe6ebf0),
    .muted = rgb(0x98a4b0),
    .accent = rgb(0x35cdc6),
    .on_accent = rgb(0x0e1217),
    .good = rgb(0x7ccf5a),
    .warning = rgb(0xf0c05a),
    .bad = rgb(0xff8078),
    .masked = rgb(0x2a332e),
    .nan = rgb(0xff5ca8),
    .input = rgb(0xe7f1f1),
    .query = rgb(0x70dafd),
    .key = rgb(0xfde636),
    .value = rgb(0xa6d8ab),
    .score = rgb(0xcc7b9f),
    .weight = rgb(0x9e73ff),
    .output = rgb(0xd6715f),
};

constexpr Theme kLight{
    .name = ThemeName::light,
    .background = rgb(0xfbf9f5),
    .surface = rgb(0xf3f0ea),
    .raised = rgb(0xe8e4dc),
    .line = rgb(0xd6d1c7),
    .control = rgb(0x767d84),
    .text = rgb(0x1c2127),
    .muted = rgb(0x5a626b),
    .accent = rgb(0x006d75),
    .on_accent = rgb(0xffffff),
    .good = rgb(0x2c6b14),
    .warning = rgb(0x7a5200),
    .bad = rgb(0xb3261e),
    .masked = rgb(0xd9dfd5),
    .nan = rgb(0xd4006a),
    .input = rgb(0x16242b),
    .query = rgb(0x12495c),
    .key = rgb(0x6d6506),
    .value = rgb(0x184530),
    .score = rgb(0xaa4057),
    .weight = rgb(0x7b2ee1),
    .output = rgb(0x520301),
};

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

}  // namespace

ColorRange range_of(ColorScale scale, std::span<const float> values) {
    double largest = 0.0;
    for (const float value : values) {
        const double size = scale == ColorScale::unit ? value : std::abs(value);
        if (std::isfinite(size)) largest = std::max(largest, size);
    }
    if (scale == ColorScale::unit) return {scale, 0.0, std::max(largest, 1.0)};
    if (largest == 0.0) largest = 1.0;
    return {scale, -largest, largest};
}

namespace {

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
    const LabRamp& stops = ramp(scale, name);
    const double t = 2.0 * std::clamp(position, 0.0, 1.0);
    const std::size_t half = t < 1.0 ? 0 : 1;
    const double f = t - static_cast<double>(half);
    const Lab& a = stops[half];
    const Lab& b = stops[half + 1];
    return to_rgb({a.L + (b.L - a.L) * f, a.a + (b.a - a.a) * f, a.b + (b.b - a.b) * f});
}

Color color_of(const ColorRange& range, double value, ThemeName name) {
    return color_at(range.scale, position_of(range, value), name);
}

Color ink_on(Color fill, ThemeName) {
    constexpr Color kBlack{0, 0,
                           0};  // with white, one of them always has a contrast of 4.58 at least
    constexpr Color kWhite{255, 255, 255};
    return contrast(fill, kWhite) >= contrast(fill, kBlack) ? kWhite : kBlack;
}

Color Theme::role(Role role) const {
    constexpr Color Theme::*kColors[] = {&Theme::input, &Theme::query, &Theme::key,
                                         &Theme::value, &Theme::score, &Theme::weight,
                                         &Theme::output};
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
