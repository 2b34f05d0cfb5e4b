#pragma once

#include <imgui.h>

#include "app/common/draw/workspace.h"
#include "app/common/map/draw/parts.h"
#include "app/workspaces/masks/view.h"

namespace attn::ui {

/// `count` matrices beneath each other, as large as the box allows; empty rows are framed. The mask is painted with the
/// mouse. Returns the pair that is pointed at.
std::optional<Pair> draw_pair_grids(const MasksView& view, std::size_t first, std::size_t count,
                                    const Box& box, const Frame& frame, Actions& out);
/// The same of a sentence that is too long for cells, beside each other.
std::optional<Pair> draw_pair_maps(const MasksView& view, const MapLook& look, std::size_t first,
                                   std::size_t count, const Box& box, const Frame& frame,
                                   Actions& out);

}  // namespace attn::ui
