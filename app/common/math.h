#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/common/painter.h"
#include "core/result.h"
#include "core/stage.h"

namespace attn::view {

// Typeset mathematics: a formula in the subset of TeX that core/tex.h reads becomes words and strokes on
// a baseline. Lengths are pixels; (0, 0) is the left end of the baseline, y goes down.

struct MathWord {
    std::string text;
    Font font;
    Point at;  // top left
    float width = 0.0F;
    std::optional<OperandId> operand;  // the matrix of the symbol
};
/// Bars, and the hooks of roots. Two points are a level bar that hangs from them.
struct MathStroke {
    std::vector<Point> points;
    float thickness = 1.0F;
};

struct MathBox {
    float width = 0.0F;
    float ascent = 0.0F;   // of what is seen, above the baseline
    float descent = 0.0F;  // below it
    std::vector<MathWord> runs;
    std::vector<MathStroke> strokes;
};

struct MathSize {
    float px = 20.0F;            // of a line
    float least_px = 11.0F;      // of a line of scripts
    float least_text_px = 0.0F;  // of words
};

/// An error names the part of the formula that is not in the subset.
Result<MathBox> lay_out_math(std::string_view tex, const MathSize& size, Painter& measure);

/// Symbols in the colour of their matrix's role, all else in the colour of text. `lit` is underlined.
void draw_math(const MathBox& box, Point baseline, const Theme& theme,
               const std::optional<OperandId>& highlighted, Painter& painter);

/// Of the symbol that is drawn there.
std::optional<OperandId> operand_at(const MathBox& box, Point baseline, Point pointer);

/// The operand of a symbol, by its plain text: "Q" and a row "q" of it, "W_Q", "scores".
std::optional<OperandId> operand_named(std::string_view symbol);

}  // namespace attn::view
