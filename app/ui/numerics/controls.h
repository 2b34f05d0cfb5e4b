#pragma once

#include "app/ui/common/frame.h"
#include "app/view/numerics/view.h"

namespace attn::ui {

/// The row of logits and its gain.
void draw_numerics_controls(const view::NumericsView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
