#pragma once

#include <imgui.h>

#include <vector>

#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

/// One bar for each key on a scale of 0 to 100 %, within `low` … `high`. Numbers above the bars and
/// labels below them as far as they fit, the largest number always. True when all numbers are shown.
bool draw_bars(const std::vector<view::BarView>& bars, view::Color color, ImVec2 low, ImVec2 high,
               const Frame& frame);

}  // namespace attn::ui
