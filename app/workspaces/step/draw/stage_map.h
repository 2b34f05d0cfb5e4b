#pragma once

#include <optional>

#include "app/common/draw/frame.h"
#include "app/common/state.h"

namespace attn::ui {

/// What Step shows where its stage is a map, filling the current window: the map that Large has. Returns the cell under
/// the pointer where Step has its number.
std::optional<view::CellRef> draw_stage_map(const view::AppState& state, const Frame& frame,
                                            view::Actions& out);

}  // namespace attn::ui
