#pragma once

#include <imgui.h>

#include <optional>

#include "app/ui/frame.h"
#include "app/view/actions.h"
#include "app/view/step_view.h"

namespace attn::ui {

/// The current stage as operands → result, with its title, formula and one sentence, filling the
/// current window. `editing`: the cell being typed into. Returns the cell under the pointer.
std::optional<view::CellRef> draw_canvas(const view::StepView& view,
                                         const std::optional<view::CellEdit>& editing,
                                         const Frame& frame, view::Actions& out);

/// The numbers of each row of weights as an aligned table, `height` px high.
void draw_readouts(const std::vector<view::RowReadouts>& rows, float height, const Frame& frame);

/// The text field over the cell that is being typed into.
void draw_cell_editor(const view::CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      view::Actions& out);
/// A digit, a point or a minus on a selected editable cell begins typing (Enter is a command).
void begin_edit_by_keyboard(const view::CellRef& selected, view::Actions& out);

}  // namespace attn::ui
