#pragma once

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

/// The row of controls, which flows onto more rows in a narrow window.
void draw_saturation_controls(const view::SaturationView& view, const Frame& frame,
                              view::Actions& out);

}  // namespace attn::ui
