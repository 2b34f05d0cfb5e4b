#pragma once

#include <optional>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/common/inspector.h"

namespace attn::ui {

/// The selected cell's arithmetic. Returns the linked cell under the pointer.
std::optional<view::CellRef> draw_inspector(const view::InspectorView& view, const Frame& frame,
                                            view::Actions& out);

}  // namespace attn::ui
