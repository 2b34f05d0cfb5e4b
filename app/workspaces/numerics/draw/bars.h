#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/workspaces/numerics/view.h"

namespace attn::ui {

enum class KeyNumbers { none, below };  // beneath the box, kNumericsKeys high
inline constexpr float kNumericsKeys = 16.0F;
struct BarStyle {
    double end = 1.0;  // weight of the highest bar there can be
    KeyNumbers numbers = KeyNumbers::none;
};
/// One softmax in one format, within `low` … `high`: its verdict, and a bar for each key with a mark where the exact
/// weight is. Of more keys than there is room for, some share a bar: the largest weight, NaN before all.
/// A click selects the key; so do ← and → while it has the keyboard.
void draw_numerics_cell(const view::NumericsCellView& cell, ImVec2 low, ImVec2 high, BarStyle style,
                        const Frame& frame, view::Actions& out);

}  // namespace attn::ui
