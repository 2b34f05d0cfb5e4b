#pragma once

#include <imgui.h>

#include "app/ui/common/frame.h"
#include "app/view/saturation/view.h"

namespace attn::ui {

/// Where one side of the Saturation workspace stands, in pixels.
struct SidePlace {
    ImVec2 low;
    float width = 0.0F;
    float bars_height = 0.0F;
};

/// Heading, bars, verdict and read-outs of scaled or unscaled, downwards from place.low.
void draw_side(const view::SaturationSideView& side, const SidePlace& place, const Frame& frame);
/// The height of all of it but the bars.
float side_texts_height(const view::SaturationSideView& side, float width, const Frame& frame);

}  // namespace attn::ui
