#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

/// The weights of one side as bars, with its formula above and its numbers below.
void draw_side_bars(const view::SaturationSideView& side, ImVec2 low, ImVec2 high,
                    const Frame& frame);
/// Its Jacobian: square cells as large as fit.
void draw_side_jacobian(const view::SaturationSideView& side, ImVec2 low, ImVec2 high,
                        const Frame& frame);
/// The height that the Jacobian has a use for in a box of that width.
float jacobian_height(const view::SaturationSideView& side, float width, const Frame& frame);

}  // namespace attn::ui
