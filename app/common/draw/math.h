#pragma once

#include <imgui.h>

#include <optional>
#include <string>

#include "app/common/draw/frame.h"
#include "app/common/math.h"

namespace attn::ui {

/// Of that size, or as much smaller as `width` asks for, down to what is still read; as it is where even
/// that is too wide. nullopt when `tex` is no formula.
std::optional<MathBox> fitted_math(const Frame& frame, const std::string& tex, float units,
                                   float width);

/// On its baseline; returns what the symbol under the pointer stands for. That symbol is underlined,
/// wherever the formula has it.
std::optional<OperandId> draw_formula(const Frame& frame, const MathBox& box, ImVec2 baseline);

/// As an item; as wrapped plain text where it does not fit. Returns the symbol under the pointer.
std::optional<OperandId> formula_item(const Frame& frame, const std::string& tex,
                                      const std::string& plain, float units);

}  // namespace attn::ui
