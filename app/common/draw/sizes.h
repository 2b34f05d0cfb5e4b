#pragma once

namespace attn::ui {

// Sizes that rooms share, in design units: Frame::px() makes pixels of them.

/// Space between things, on one grid.
inline constexpr float kSpace4 = 4.0F, kSpace8 = 8.0F, kSpace12 = 12.0F, kSpace16 = 16.0F,
                       kSpace24 = 24.0F, kSpace48 = 48.0F;

/// Heights of rows: small print, text, a table, a heading above something, chips and switches, a bar of controls.
inline constexpr float kSmallRow = 16.0F, kTextRow = 20.0F, kTableRow = 22.0F, kTitleRow = 24.0F,
                       kChipRow = 28.0F, kControlRow = 34.0F;

/// Type of formulas; letters are loaded at these.
inline constexpr float kSmallFormula = 16.0F, kFormulaSize = 20.0F;

}  // namespace attn::ui
