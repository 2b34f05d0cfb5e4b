#pragma once

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

enum class Toolbar { shown, hidden };
/// The Saturation workspace, in what is left of the current window: controls, unless presenting; bars, read-outs and
/// verdict of scaled beside unscaled; the Jacobian; the curves. Scrolls where it does not fit.
void draw_saturation_panel(const view::SaturationView& view, const Frame& frame, view::Actions& out,
                           Toolbar toolbar = Toolbar::shown);

}  // namespace attn::ui
