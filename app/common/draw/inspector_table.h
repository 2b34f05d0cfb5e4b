#pragma once

#include <optional>

#include "app/common/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/inspector.h"

namespace attn::ui {

/// Rows of numbers aligned on their points, under a heading that stays. They take the room that the
/// window has left but for `below` pixels, and scroll there, the chosen row in sight; where too little
/// is left for that, all of them are drawn and the window scrolls. Returns the linked cell under the pointer.
std::optional<view::CellRef> draw_table(const view::InspectorTable& table, float below,
                                        const Frame& frame, view::Actions& out);

}  // namespace attn::ui
