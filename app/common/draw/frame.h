#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/draw/fonts.h"
#include "app/common/forward.h"
#include "app/common/painter.h"
#include "app/common/theme.h"

namespace attn::ui {

// What is drawn is of view: its types have their bare names here, its functions say where they are from.
using namespace view;

// Sizes that rooms share, in design units: Frame::px() makes pixels of them.

/// Space between things, on one grid.
inline constexpr float kSpace4 = 4.0F, kSpace8 = 8.0F, kSpace12 = 12.0F, kSpace16 = 16.0F,
                       kSpace24 = 24.0F, kSpace48 = 48.0F;

/// Heights of rows: small print, text, a table, a heading above something, chips and switches, a bar of controls.
inline constexpr float kSmallRow = 16.0F, kTextRow = 20.0F, kTableRow = 22.0F, kTitleRow = 24.0F,
                       kChipRow = 28.0F, kControlRow = 34.0F;

/// Type of formulas; letters are loaded at these.
inline constexpr float kSmallFormula = 16.0F, kFormulaSize = 20.0F;

/// The nearest of low … high; low where a window is so small that high lies below it (std::clamp is undefined there).
/// NaN stays NaN.
template <class T>
constexpr T within(T value, T low, T high) {
    if (high < low || value < low) return low;
    return high < value ? high : value;
}

class FocusRing;

/// What every panel is given besides its view. Lives as long as one frame.
struct Frame {
    const Fonts& fonts;
    const Theme& theme;
    float scale = 1.0F;  // px of one design unit
    Painter& painter;
    Painter& around;  // of what stands around the canvas: another one in a figure of it alone
    /// A figure: what ImGui draws of its own is not in it, so that widgets draw themselves.
    bool still = false;

    FocusRing* focus = nullptr;  // the controls that the keyboard reaches; null: none
    bool quiet = false;          // no tooltips: a list is open or something is typed

    /// Design units (8-px grid) to pixels.
    float px(float units) const { return units * scale; }
    float text_width(const view::Font& font, std::string_view text) const {
        return painter.text_size(font, text).x;
    }
    float widest(const view::Font& font, const std::vector<std::string>& items) const {
        float width = 0.0F;
        for (const std::string& word : items) width = std::max(width, text_width(font, word));
        return width;
    }
    /// A figure of the canvas alone: nothing around it is drawn, and nothing in it is scrolled.
    bool is_canvas_alone() const { return still && &around != &painter; }
};

/// The frame for what stands around the canvas.
inline Frame around(const Frame& frame) {
    return {frame.fonts,  frame.theme, frame.scale, frame.around,
            frame.around, frame.still, frame.focus, frame.quiet};
}

}  // namespace attn::ui
