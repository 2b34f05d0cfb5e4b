#include "app/common/theme.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/check.h"

namespace attn::view {
namespace {

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

Color Theme::role(Role role) const {
    switch (role) {
        case Role::input:
            return input;
        case Role::query:
            return query;
        case Role::key:
            return key;
        case Role::value:
            return value;
        case Role::score:
            return score;
        case Role::weight:
            return weight;
        case Role::output:
            return output;
    }
    ATTN_CHECK(false, "every role has a colour");
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
