#include "app/workspaces/masks/state.h"
#include "core/large/map_input.h"
#include "tests/support/color_vision.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using attn::ColorScale;
using namespace attn::test;

namespace {

constexpr ThemeName kThemes[] = {ThemeName::dark, ThemeName::light};
constexpr ColorRange kDiverging{ColorScale::diverging, -2.0, 2.0};
constexpr ColorRange kUnit{ColorScale::unit, 0.0, 1.0};
constexpr Color kBlack{0, 0, 0};

std::vector<std::pair<std::string, Color>> text_colors(const Theme& t) {
    return {{"text", t.text},     {"muted", t.muted},  {"accent", t.accent},
            {"good", t.good},     {"bad", t.bad},      {"warning", t.warning},
            {"input", t.input},   {"query", t.query},  {"key", t.key},
            {"value", t.value},   {"score", t.score},  {"weight", t.weight},
            {"output", t.output}, {"first", t.first},  {"second", t.second},
            {"third", t.third},   {"fourth", t.fourth}};
}

constexpr std::size_t kMainRoles = 4;
constexpr double kLeastOfOthers = 11.5;  // of score, output and input, under paper's narrow range

/// q, k, v and a first.
std::vector<std::pair<std::string, Color>> role_colors(const Theme& t) {
    return {{"query", t.query}, {"key", t.key},       {"value", t.value}, {"weight", t.weight},
            {"score", t.score}, {"output", t.output}, {"input", t.input}};
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

TEST_CASE("contrast is WCAG's, 21 for black on white; blend runs from one colour to the other") {
    CHECK(contrast(kBlack, Color{255, 255, 255}) == doctest::Approx(21.0));
    CHECK(contrast(Color{119, 119, 119}, Color{255, 255, 255}) ==
          doctest::Approx(4.48).epsilon(0.01));
    CHECK(contrast(Color{12, 200, 7}, Color{12, 200, 7}) == doctest::Approx(1.0));
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 0.0) == Color{0, 10, 20});
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 0.5) == Color{50, 60, 70});
    CHECK(blend(Color{0, 10, 20}, Color{100, 110, 120}, 1.0) == Color{100, 110, 120});
}

TEST_CASE("every text colour is readable on background, surface and raised, edges stand out") {
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
    for (const ThemeName name : kThemes) {
        const Theme& t = theme(name);
        for (const Color under : {t.background, t.surface, t.raised})
            CHECK(contrast(t.control, under) >= 3.0);
    }
}

TEST_CASE("lightness of both maps never turns, from the background on, alike on both sides of 0") {
    CHECK(direction(kUnit, 0.0, 1.0, ThemeName::dark) == 1);
    CHECK(direction(kUnit, 0.0, 1.0, ThemeName::light) == -1);
    for (const ThemeName name : kThemes)
        CHECK(contrast(color_of(kUnit, 0.0, name), theme(name).background) < 1.5);
    CHECK(direction(kDiverging, 0.0, 2.0, ThemeName::dark) == 1);
    CHECK(direction(kDiverging, 0.0, -2.0, ThemeName::dark) == 1);
    CHECK(direction(kDiverging, 0.0, 2.0, ThemeName::light) == -1);
    CHECK(direction(kDiverging, 0.0, -2.0, ThemeName::light) == -1);
    for (const ThemeName name : kThemes)
        CHECK(lightness(kDiverging, 2.0, name) / lightness(kDiverging, -2.0, name) ==
              doctest::Approx(1.0).epsilon(0.12));
}

TEST_CASE("one ink is readable on every fill of both maps, which clamp, and never break at a NaN") {
    for (const ThemeName name : kThemes)
        for (const ColorRange& range : {kDiverging, kUnit})
            for (int s = 0; s <= 64; ++s) {
                const double value = range.low + (range.high - range.low) * s / 64;
                const Color fill = color_of(range, value, name);
                CHECK(contrast(ink_on(fill, name), fill) >= 4.5);
                CHECK(ink_on(fill, name) == ink_on(color_of(kUnit, 0.0, name), name));
            }
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
    CHECK(range_of(ColorScale::unit, values).high == 0.5);
    CHECK(range_of(ColorScale::unit, std::vector<float>{0.2F, 1.25F}).high == 1.25);  // dropout
    CHECK(range_of(ColorScale::unit, std::vector<float>{0.0F, std::nanf("")}).high == 1.0);
}

TEST_CASE(
    "every colour map turns its lightness one way, and numerals read on each of its colours") {
    for (const ThemeName name : {ThemeName::dark, ThemeName::light})
        for (const ColorMap map : {ColorMap::violet, ColorMap::viridis, ColorMap::cividis,
                                   ColorMap::grey, ColorMap::errors}) {
            CAPTURE(static_cast<int>(map));
            double before = lab_of(color_at(ColorScale::unit, 0.0, name, map)).L;
            const bool brighter = name == ThemeName::dark;
            for (int n = 1; n <= 64; ++n) {
                const Color color = color_at(ColorScale::unit, n / 64.0, name, map);
                const double now = lab_of(color).L;
                CHECK((brighter ? now - before : before - now) > -0.5);
                CHECK(contrast(color, ink_on(color, name)) >= 4.5);
                before = now;
            }
            CHECK(color_at(ColorScale::diverging, 0.2, name, map) ==
                  color_at(ColorScale::diverging, 0.2, name));
        }
}

TEST_CASE("CIEDE2000 gives the published differences to four decimals") {
    struct Pair {
        CieLab one, other;
        double difference;
    };
    // Sharma, Wu, Dalal 2005, table 1: pairs 1, 4, 7, 9, 11, 17, 18, 19, 20, 25, 34
    constexpr Pair kPairs[] = {
        {{50.0, 2.6772, -79.7751}, {50.0, 0.0, -82.7485}, 2.0425},
        {{50.0, -1.3802, -84.2814}, {50.0, 0.0, -82.7485}, 1.0000},
        {{50.0, 0.0, 0.0}, {50.0, -1.0, 2.0}, 2.3669},
        {{50.0, 2.4900, -0.0010}, {50.0, -2.4900, 0.0009}, 7.1792},
        {{50.0, 2.4900, -0.0010}, {50.0, -2.4900, 0.0011}, 7.2195},
        {{50.0, 2.5, 0.0}, {73.0, 25.0, -18.0}, 27.1492},
        {{50.0, 2.5, 0.0}, {61.0, -5.0, 29.0}, 22.8977},
        {{50.0, 2.5, 0.0}, {56.0, -27.0, -3.0}, 31.9030},
        {{50.0, 2.5, 0.0}, {58.0, 24.0, 15.0}, 19.4535},
        {{60.2574, -34.0099, 36.2677}, {60.4626, -34.1751, 39.4387}, 1.2644},
        {{2.0776, 0.0795, -1.1350}, {0.9033, -0.0636, -0.5514}, 0.9082},
    };
    for (const Pair& pair : kPairs) {
        CAPTURE(pair.difference);
        CHECK(std::abs(ciede2000(pair.one, pair.other) - pair.difference) < 5e-5);
        CHECK(std::abs(ciede2000(pair.other, pair.one) - pair.difference) < 5e-5);
    }
}

TEST_CASE("Lab of white, black and red is as published; greys stay grey in every sight") {
    CHECK(lab_of({255, 255, 255}).L == doctest::Approx(100.0).epsilon(1e-4));
    CHECK(lab_of(kBlack).L == doctest::Approx(0.0));
    const CieLab red = lab_of({255, 0, 0});
    CHECK(red.L == doctest::Approx(53.24).epsilon(1e-3));
    CHECK(red.a == doctest::Approx(80.09).epsilon(1e-3));
    CHECK(red.b == doctest::Approx(67.20).epsilon(1e-3));
    for (const Sight sight : kSights) CHECK(seen({90, 90, 90}, sight) == Color{90, 90, 90});
    // a red and a green that only a normal eye keeps well apart
    const Color one{200, 60, 60};
    const Color other{110, 110, 50};
    CHECK(difference(one, other, Sight::normal) > 35.0);
    CHECK(difference(one, other, Sight::deuteranopia) < 15.0);
}

TEST_CASE("the colours of q, k, v and a are far apart in every kind of sight") {
    for (const ThemeName name : kThemes)
        for (const Sight sight : kSights) {
            const auto roles = role_colors(theme(name));
            for (std::size_t i = 0; i < roles.size(); ++i)
                for (std::size_t j = i + 1; j < roles.size(); ++j) {
                    CAPTURE(name_of(sight));
                    CAPTURE(roles[i].first + " " + roles[j].first);
                    const bool of_four = j < kMainRoles;
                    CHECK(difference(roles[i].second, roles[j].second, sight) >=
                          (of_four ? 18.0 : kLeastOfOthers));
                }
        }
}

TEST_CASE("formats and methods have colours of their own, no role's, and no two the same") {
    for (const ThemeName name : kThemes) {
        const Theme& t = theme(name);
        const Color kinds[] = {t.first, t.second, t.third, t.fourth};
        for (const Color kind : kinds) {
            for (const Color other : kinds)
                if (other != kind) CHECK(difference(kind, other, Sight::normal) >= 14.0);
            for (const Color role : {t.query, t.key, t.value, t.weight})
                CHECK(difference(kind, role, Sight::normal) >= kLeastOfOthers);
        }
    }
}

TEST_CASE("roles look like no verdict, link, text or sign of numbers; the signs differ") {
    for (const ThemeName name : kThemes) {
        const Theme& t = theme(name);
        const auto roles = role_colors(t);
        for (std::size_t n = 0; n < kMainRoles; ++n) {
            CAPTURE(roles[n].first);
            for (const Sight sight : kSights)
                CHECK(difference(roles[n].second, t.accent, sight) >= 18.0);
            for (const Color other : {t.good, t.accent, t.text})
                CHECK(difference(roles[n].second, other, Sight::normal) >= 10.0);
        }
    }
    for (const ThemeName name : kThemes) {
        const Color ends[] = {color_of(kDiverging, -2.0, name), color_of(kDiverging, 2.0, name)};
        for (const Sight sight : kSights) CHECK(difference(ends[0], ends[1], sight) >= 39.0);
        for (const auto& [what, color] : role_colors(theme(name)))
            for (const Color end : ends) {
                CAPTURE(what);
                CHECK(difference(color, end, Sight::normal) >= 10.0);
            }
    }
}

TEST_CASE("the lightness of a weight grows evenly with its root: 0.053 is no zero") {
    for (const ThemeName name : kThemes) {
        const double from = lab_of(color_of(kUnit, 0.0, name)).L;
        const double to = lab_of(color_of(kUnit, 1.0, name)).L;
        for (int n = 0; n <= 20; ++n) {
            const double root = n / 20.0;
            CHECK(lab_of(color_of(kUnit, root * root, name)).L ==
                  doctest::Approx(from + (to - from) * root).epsilon(0.02));
        }
        for (const Sight sight : kSights)
            CHECK(difference(color_of(kUnit, 0.0, name), color_of(kUnit, 0.053, name), sight) >=
                  10.0);
    }
}

TEST_CASE("masked, NaN and every number have different colours") {
    for (const ThemeName name : kThemes) {
        const Theme& t = theme(name);
        for (const ColorRange& range : {kDiverging, kUnit})
            for (int s = 0; s <= 64; ++s) {
                const Color fill =
                    color_of(range, range.low + (range.high - range.low) * s / 64, name);
                CAPTURE(s);
                CHECK(difference(fill, t.masked, Sight::normal) >= 4.0);
                CHECK(difference(fill, t.nan, Sight::normal) >= 20.0);
            }
        for (const ColorRange& range : {kDiverging, kUnit})  // the number that a mask resembles
            CHECK(difference(color_of(range, 0.0, name), t.masked, Sight::normal) >= 7.0);
    }
}
