#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/step/view.h"

namespace attn::ui {

/// Preset, sentence, sizes, scaling, temperature, mask, seed.
void draw_controls(const view::ControlsView& view, const Frame& frame, view::Actions& out);
/// What gradients are of: a list, while they are shown.
void draw_loss(const view::LossView& view, const Frame& frame, view::Actions& out);
/// The stages with live shapes; a click goes there.
void draw_ribbon(const std::vector<view::RibbonItem>& items, const Frame& frame,
                 view::Actions& out);

/// The current stage as operands → result, with its title, formula and one sentence, filling the
/// current window. `editing`: the cell being typed into. Returns the cell under the pointer.
std::optional<view::CellRef> draw_canvas(const view::StepView& view,
                                         const std::optional<view::CellEdit>& editing,
                                         const Frame& frame, view::Actions& out);

/// The text field over the cell that is being typed into.
void draw_cell_editor(const view::CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      view::Actions& out);

}  // namespace attn::ui
