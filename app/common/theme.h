#pragma once

#include <cstdint>

#include "app/common/theme_name.h"
#include "core/role.h"

namespace attn::view {

struct Color {
    std::uint8_t r = 0;
    std::uint8_t g = 0;
    std::uint8_t b = 0;
    std::uint8_t a = 255;
    bool operator==(const Color&) const = default;
};

/// Every colour of the window. Contrast on `background`, `surface` and `raised`: of text, which roles are
/// too, >= 4.5:1, of `control` >= 3:1. Role colours are the same thing in formulas, headers, strips and
/// curves: Q cyan, K yellow, V green, A purple, ΔE00 >= 18 between each two of these, also under
/// deuteranopia and protanopia. Slate and sand are the signs of numbers and no role's;
/// the accent differs as much from these four.
struct Theme {
    ThemeName name;
    Color background;  // near-black blue-grey, or paper
    Color surface;     // rail, panels
    Color raised;      // hovered rows, popups
    Color line;        // hairlines, which nothing depends on
    Color control;     // edges of controls, tracks, arrows
    Color text;
    Color muted;      // labels, units
    Color accent;     // the one accent: focus, current stage, links
    Color on_accent;  // text on accent
    Color good;       // verdict: healthy
    Color warning;    // verdict: saturating
    Color bad;        // verdict: saturated; errors
    Color masked;     // a cell the mask forbids
    Color nan;        // a cell that is NaN
    Color input, query, key, value, score, weight, output;  // one per Role
    Color first, second, third, fourth;  // neutral, of formats and methods, 14 from each other

    Color role(Role role) const;
};

const Theme& theme(ThemeName name);

/// WCAG 2.1 contrast ratio of two opaque colours, 1…21.
double contrast(Color a, Color b);
/// a + (b − a) t, per channel.
Color blend(Color a, Color b, double t);

}  // namespace attn::view
