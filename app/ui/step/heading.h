#pragma once

#include "app/ui/common/frame.h"
#include "app/view/step/view.h"

namespace attn::ui {

/// The stage's title, formula, sentence and what the numbers are, across the current window. Equally
/// high at every stage, so that what stands under it does not move.
void draw_heading(const view::StepView& view, const Frame& frame);

}  // namespace attn::ui
