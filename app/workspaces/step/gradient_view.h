#pragma once

#include <string>
#include <vector>

#include "app/common/grid.h"

namespace attn::view {

// What the canvas shows of gradients.

/// ∂L/∂ of a stage or parameter, the head shown.
GridView gradient_grid(const AppState& state, const OperandId& id);
/// What stands around ∂L/∂stage: above, each parameter of the step and its gradient; left, the stage's value;
/// right, what the outputs should be, or parameters that share no column with the stage.
std::vector<GridView> gradient_operands(const AppState& state, Stage stage);
/// One sentence: what L is, its value, and the largest gradient of the stage's head shown.
std::string gradient_words(const AppState& state, Stage stage);

}  // namespace attn::view
