#pragma once

#include <imgui.h>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/workspace.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/masks/actions.h"
#include "app/workspaces/masks/view.h"

namespace attn::ui {

/// `count` matrices beside each other, as large as the box allows: their rows are named once, empty ones are framed. The
/// mask is painted with the mouse. Says what is pointed at.
void draw_pair_grids(const view::MasksView& view, std::size_t first, std::size_t count,
                     const Box& box, const Frame& frame, view::Actions& out);
/// The same of a sentence that is too long for cells.
void draw_pair_maps(const view::MasksView& view, const view::MapLook& look, std::size_t first,
                    std::size_t count, const Box& box, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
