#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// What to do first, at the foot of the current window; returns the height that it takes. 0, and nothing drawn, in a figure
/// and where the window is low.
float draw_start_buttons(const StepView& view, const Frame& frame, Actions& out);

}  // namespace attn::ui
