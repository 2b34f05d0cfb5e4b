#pragma once

#include <imgui.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/view.h"

namespace attn::ui {

/// ‖∂a/∂s‖_F over d_k within `low` … `high`: the gap between the curves shaded, a handle on d_k, and
/// below the axis how the unscaled gradient changes from the pinned d_k. The handle and the pin are
/// dragged; they stop at powers of two.
void draw_hero(const view::HeroView& hero, ImVec2 low, ImVec2 high, bool faded, const Frame& frame,
               view::Actions& out);

}  // namespace attn::ui
