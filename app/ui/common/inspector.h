#pragma once

#include "app/ui/common/frame.h"
#include "app/ui/common/pointed.h"
#include "app/view/actions.h"
#include "app/view/common/inspector.h"

namespace attn::ui {

/// The selected cell's arithmetic. Returns the linked cell or the symbol of its formula under the pointer.
Pointed draw_inspector(const view::InspectorView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
