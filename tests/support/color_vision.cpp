#include "tests/support/color_vision.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace attn::test {
namespace {

using view::Color;
using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

constexpr double kPi = std::numbers::pi;

constexpr Matrix kToXyz{{{0.4124564, 0.3575761, 0.1804375},
                         {0.2126729, 0.7151522, 0.0721750},
                         {0.0193339, 0.1191920, 0.9503041}}};
constexpr Triple kWhite{0.95047, 1.0, 1.08883};
constexpr Matrix kDeuteranopia{{{0.367322, 0.860646, -0.227968},
                                {0.280085, 0.672501, 0.047413},
                                {-0.011820, 0.042940, 0.968881}}};
constexpr Matrix kProtanopia{{{0.152286, 1.052583, -0.204868},
                              {0.114503, 0.786281, 0.099216},
                              {-0.003882, -0.048116, 1.051998}}};

Triple times(const Matrix& m, const Triple& v) {
    Triple out{};
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t j = 0; j < 3; ++j) out[i] += m[i][j] * v[j];
    return out;
}

double decode(std::uint8_t channel) {
    const double c = channel / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

std::uint8_t encode(double linear) {
    const double c = std::clamp(linear, 0.0, 1.0);
    const double s = c <= 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1.0 / 2.4) - 0.055;
    return static_cast<std::uint8_t>(std::lround(255.0 * s));
}

Triple decode(Color color) { return {decode(color.r), decode(color.g), decode(color.b)}; }

double lightness_of(double t) {
    return t > 216.0 / 24389.0 ? std::cbrt(t) : (24389.0 / 27.0 * t + 16.0) / 116.0;
}

double square(double x) { return x * x; }
double seventh(double x) { return std::pow(x, 7.0); }
double cos_of(double degrees) { return std::cos(degrees * kPi / 180.0); }

/// 0…360; 0 for grey.
double hue_of(double a, double b) {
    if (a == 0.0 && b == 0.0) return 0.0;
    const double degrees = std::atan2(b, a) * 180.0 / kPi;
    return degrees < 0.0 ? degrees + 360.0 : degrees;
}

/// h2 − h1, −180…180; 0 where one of them is grey.
double hue_difference(double h1, double h2, double chroma_product) {
    if (chroma_product == 0.0) return 0.0;
    const double d = h2 - h1;
    if (d > 180.0) return d - 360.0;
    return d < -180.0 ? d + 360.0 : d;
}

double mean_hue(double h1, double h2, double chroma_product) {
    if (chroma_product == 0.0) return h1 + h2;
    if (std::abs(h1 - h2) <= 180.0) return (h1 + h2) / 2.0;
    return h1 + h2 < 360.0 ? (h1 + h2 + 360.0) / 2.0 : (h1 + h2 - 360.0) / 2.0;
}

/// R_T, what blues lose.
double rotation(double mean_chroma, double hue) {
    const double turn = 30.0 * std::exp(-square((hue - 275.0) / 25.0));
    const double weight =
        2.0 * std::sqrt(seventh(mean_chroma) / (seventh(mean_chroma) + seventh(25.0)));
    return -std::sin(2.0 * turn * kPi / 180.0) * weight;
}

double hue_weight(double hue) {
    return 1.0 - 0.17 * cos_of(hue - 30.0) + 0.24 * cos_of(2.0 * hue) +
           0.32 * cos_of(3.0 * hue + 6.0) - 0.20 * cos_of(4.0 * hue - 63.0);
}

}  // namespace

const char* name_of(Sight sight) {
    constexpr const char* kNames[] = {"normal", "deuteranopia", "protanopia"};
    return kNames[static_cast<std::size_t>(sight)];
}

CieLab lab_of(Color color) {
    Triple xyz = times(kToXyz, decode(color));
    for (std::size_t n = 0; n < 3; ++n) xyz[n] = lightness_of(xyz[n] / kWhite[n]);
    return {116.0 * xyz[1] - 16.0, 500.0 * (xyz[0] - xyz[1]), 200.0 * (xyz[1] - xyz[2])};
}

double ciede2000(const CieLab& one, const CieLab& other) {
    const double mean = (std::hypot(one.a, one.b) + std::hypot(other.a, other.b)) / 2.0;
    const double g = 0.5 * (1.0 - std::sqrt(seventh(mean) / (seventh(mean) + seventh(25.0))));
    const double a1 = (1.0 + g) * one.a;
    const double a2 = (1.0 + g) * other.a;
    const double c1 = std::hypot(a1, one.b);
    const double c2 = std::hypot(a2, other.b);
    const double h1 = hue_of(a1, one.b);
    const double h2 = hue_of(a2, other.b);
    const double turned = hue_difference(h1, h2, c1 * c2);
    const double hue = mean_hue(h1, h2, c1 * c2);
    const double chroma = (c1 + c2) / 2.0;
    const double lightness = square((one.L + other.L) / 2.0 - 50.0);
    const double d_l = (other.L - one.L) / (1.0 + 0.015 * lightness / std::sqrt(20.0 + lightness));
    const double d_c = (c2 - c1) / (1.0 + 0.045 * chroma);
    const double d_h = 2.0 * std::sqrt(c1 * c2) * std::sin(turned * kPi / 360.0) /
                       (1.0 + 0.015 * chroma * hue_weight(hue));
    return std::sqrt(d_l * d_l + d_c * d_c + d_h * d_h + rotation(chroma, hue) * d_c * d_h);
}

Color seen(Color color, Sight sight) {
    if (sight == Sight::normal) return color;
    const Triple rgb =
        times(sight == Sight::deuteranopia ? kDeuteranopia : kProtanopia, decode(color));
    return {encode(rgb[0]), encode(rgb[1]), encode(rgb[2]), color.a};
}

double difference(Color one, Color other, Sight sight) {
    return ciede2000(lab_of(seen(one, sight)), lab_of(seen(other, sight)));
}

}  // namespace attn::test
