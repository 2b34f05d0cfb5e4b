#pragma once

#include <imgui.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"

namespace attn::ui {

/// The matrices beside each other, as large as the room allows: their rows are named once, empty ones are framed. The
/// mask is painted with the mouse. Says what is pointed at; returns where their legends end.
float draw_pair_grids(const view::MasksView& view, ImVec2 low, ImVec2 high, const Frame& frame,
                      view::Actions& out);

}  // namespace attn::ui
