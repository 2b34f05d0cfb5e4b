#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/cost/view.h"

namespace attn::ui {

/// Sizes, their presets, the kind of sharing and the pass.
void draw_cost_controls(const view::CostView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
