#pragma once

#include "app/common/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/draw/pointed.h"
#include "app/common/inspector.h"

namespace attn::ui {

/// The selected cell's arithmetic. Returns the linked cell or the symbol of its formula under the pointer.
Pointed draw_inspector(const view::InspectorView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
