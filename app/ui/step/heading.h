#pragma once

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/step/view.h"

namespace attn::ui {

/// The stage's title and formula with what the numbers are, and one sentence beneath, across the current
/// window. Equally high at every stage, so that what stands under it does not move. A symbol under the
/// pointer lights its matrix.
void draw_heading(const view::StepView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
