#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/numerics/view.h"

namespace attn::ui {

enum class NumericsToolbar { shown, hidden };
/// The Numerics workspace but for its inspector, in what is left of the current window: a column for each algorithm, a row
/// for each format, and the errors over the gain beneath.
void draw_numerics_panel(const view::NumericsView& view, const Frame& frame, view::Actions& out,
                         NumericsToolbar toolbar);

}  // namespace attn::ui
