#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/numerics/view.h"

namespace attn::ui {

/// The row of logits and its gain.
void draw_numerics_controls(const view::NumericsView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
