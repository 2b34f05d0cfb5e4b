#pragma once

#include "app/ui/common/frame.h"
#include "app/ui/workspaces.h"
#include "app/view/actions.h"
#include "app/view/heads/view.h"

namespace attn::ui {

// The parts of the Heads workspace.

/// One row: the order, colours, pins, the copy.
void draw_heads_bar(const view::AllHeadsView& view, const Frame& frame, view::Actions& out);

/// The width that the small pictures take of a room.
float thumbs_width(const view::AllHeadsView& view, ImVec2 room, const Frame& frame);
/// The small pictures with their legend, in `box`; scrolls where they have not their height.
void draw_thumbs(const view::AllHeadsView& view, const Box& box, const Frame& frame,
                 view::Actions& out);
/// The weights of the head shown, or two heads and their difference.
void draw_head_grids(const view::AllHeadsView& view, const Box& box, const Frame& frame,
                     view::Actions& out);

}  // namespace attn::ui
