#pragma once

#include <optional>

#include "app/common/draw/frame.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// The stage's title and formula with what the numbers are, and one sentence beneath, across the current
/// window. Equally high at every stage, so that what stands under it does not move. Returns the matrix
/// whose symbol is under the pointer.
std::optional<OperandId> draw_heading(const StepView& view, const Frame& frame);

}  // namespace attn::ui
