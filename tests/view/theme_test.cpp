#include "app/view/common/theme.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/view/common/colormap.h"

using namespace attn::view;
using attn::ColorScale;

namespace {

constexpr ThemeName kThemes[] = {ThemeName::dark, ThemeName::light};
constexpr ColorRange kDiverging{ColorScale::diverging, -2.0, 2.0};
constexpr ColorRange kUnit{ColorScale::unit, 0.0, 1.0};
constexpr Color kBlack{0, 0, 0};

std::vector<std::pair<std::string, Color>> text_colors(const Theme& t) {
    return {{"text", t.text},    {"muted", t.muted},     {"accent", t.accent}, {"good", t.good},
            {"bad", t.bad},      {"warning", t.warning}, {"input", t.input},   {"query", t.query},
            {"key", t.key},      {"value", t.value},     {"score", t.score},   {"weight", t.weight},
            {"output", t.output}};
}

/// Contrast with black grows exactly as lightness does.
double lightness(const ColorRange& range, double value, ThemeName name) {
    return contrast(color_of(range, value, name), kBlack);
}

/// +1 when lightness rises on every step from `from` to `to`, −1 when it falls, 0 when it turns.
int direction(const ColorRange& range, double from, double to, ThemeName name) {
    int up = 0;
    int down = 0;
    constexpr int kSteps = 32;
    for (int s = 0; s < kSteps; ++s) {
        const double a = lightness(range, from + (to - from) * s / kSteps, name);
        const double b = lightness(range, from + (to - from) * (s + 1) / kSteps, name);
        (b > a ? up : down) += 1;
    }
    if (up == kSteps) return 1;
    return down == kSteps ? -1 : 0;
}

}  // namespace

TEST_CASE("contrast is WCAG's: 21 for black on white, 1 for a colour on itself") {
    CHECK(contrast(kBlack, Color{255, 255, 255}) == doctest::Approx(21.0));
    CHECK(contrast(Color{119, 119, 119}, Color{255, 255, 255}) ==
          doctest::Approx(4.48).epsilon(0.01));
    CHECK(contrast(Color{12, 200, 7}, Color{12, 200, 7}) == doctest::Approx(1.0));
}

TEST_CASE("every text colour is readable on background, surface and raised") {
    for (const ThemeName name : kThemes) {
        const Theme& t = theme(name);
        for (const auto& [what, color] : text_colors(t)) {
            CAPTURE(what);
            CHECK(contrast(color, t.background) >= 4.5);
            CHECK(contrast(color, t.surface) >= 4.5);
            CHECK(contrast(color, t.raised) >= 4.5);
        }
        CHECK(contrast(t.on_accent, t.accent) >= 4.5);
    }
}

TEST_CASE("lightness of the unit map never turns, and is close to the background at 0") {
    CHECK(direction(kUnit, 0.0, 1.0, ThemeName::dark) == 1);
    CHECK(direction(kUnit, 0.0, 1.0, ThemeName::light) == -1);
    for (const ThemeName name : kThemes)
        CHECK(contrast(color_of(kUnit, 0.0, name), theme(name).background) < 1.5);
}

TEST_CASE("the diverging map moves away from the background on both sides of 0") {
    CHECK(direction(kDiverging, 0.0, 2.0, ThemeName::dark) == 1);
    CHECK(direction(kDiverging, 0.0, -2.0, ThemeName::dark) == 1);
    CHECK(direction(kDiverging, 0.0, 2.0, ThemeName::light) == -1);
    CHECK(direction(kDiverging, 0.0, -2.0, ThemeName::light) == -1);
}

TEST_CASE("equal distances from 0 are equally strong on both sides") {
    for (const ThemeName name : kThemes)
        CHECK(lightness(kDiverging, 2.0, name) / lightness(kDiverging, -2.0, name) ==
              doctest::Approx(1.0).epsilon(0.12));
}

TEST_CASE("ink is readable on every fill of both maps") {
    for (const ThemeName name : kThemes)
        for (const ColorRange& range : {kDiverging, kUnit})
            for (int s = 0; s <= 64; ++s) {
                const double value = range.low + (range.high - range.low) * s / 64;
                const Color fill = color_of(range, value, name);
                CHECK(contrast(ink_on(fill, name), fill) >= 4.3);
            }
}

TEST_CASE("values beyond the range are clamped, and a NaN never breaks the map") {
    for (const ThemeName name : kThemes) {
        CHECK(color_of(kDiverging, 9.0, name) == color_of(kDiverging, 2.0, name));
        CHECK(color_of(kDiverging, -9.0, name) == color_of(kDiverging, -2.0, name));
        CHECK(color_of(kDiverging, std::nan(""), name) == color_of(kDiverging, 0.0, name));
    }
}

TEST_CASE("the range of a diverging grid is symmetric and ignores what is not finite") {
    const float inf = std::numeric_limits<float>::infinity();
    const std::vector<float> values{0.5F, -3.0F, std::nanf(""), inf, -inf};
    const ColorRange range = range_of(ColorScale::diverging, values);
    CHECK(range.low == -3.0);
    CHECK(range.high == 3.0);
    CHECK(range_of(ColorScale::diverging, std::vector<float>{0.0F, 0.0F}).high == 1.0);
    CHECK(range_of(ColorScale::unit, values).high == 1.0);
}

TEST_CASE("blend runs from one colour to the other") {
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 0.0) == Color{0, 10, 20});
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 0.5) == Color{50, 60, 70});
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 1.0) == Color{100, 110, 120});
}
