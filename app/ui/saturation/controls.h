#pragma once

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/saturation/view.h"

namespace attn::ui {

/// The row of controls, which flows onto more rows in a narrow window.
void draw_saturation_controls(const view::SaturationView& view, const Frame& frame,
                              view::Actions& out);

}  // namespace attn::ui
