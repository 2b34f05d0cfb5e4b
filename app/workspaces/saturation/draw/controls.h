#pragma once

#include "app/common/draw/bar.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

void draw_saturation_controls(const view::SaturationView& view, ControlBar& bar);

}  // namespace attn::ui
