#pragma once

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/saturation/view.h"

namespace attn::ui {

/// The Saturation workspace, in what is left of the current window: controls; bars, read-outs and
/// verdict of scaled beside unscaled; the Jacobian; the curves. Scrolls where it does not fit.
void draw_saturation_panel(const view::SaturationView& view, const Frame& frame,
                           view::Actions& out);

}  // namespace attn::ui
