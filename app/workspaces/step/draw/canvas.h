#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "app/common/draw/frame.h"
#include "app/common/draw/inspector.h"
#include "app/workspaces/step/draw/controls.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// What the stages take of `room`.
float ribbon_width(const std::vector<RibbonItem>& items, float space, const Frame& frame);
/// The stages in a row; a click goes there.
void draw_ribbon(const std::vector<RibbonItem>& items, const Frame& frame, Actions& out);

/// The current stage as operands → result, with its title, formula and one sentence, filling the
/// current window. `editing`: the cell being typed into. Returns the cell under the pointer.
Pointed draw_canvas(const StepView& view, const std::optional<CellEdit>& editing,
                    const Frame& frame, Actions& out);

/// In the canvas's place: a bar for each entry of the row, which the hand drags or the keys change; once it is revealed
/// the row is next to the guess.
void draw_prediction(const PredictView& view, const Frame& frame, Actions& out);

/// The text field over the cell that is being typed into.
void draw_cell_editor(const CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      Actions& out);

}  // namespace attn::ui
