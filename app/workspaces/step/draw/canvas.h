#pragma once

#include <imgui.h>

#include <optional>
#include <vector>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/common/draw/pointed.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/predict.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// The button that opens the popover: where it stands, and what did not fit the row.
struct ModelButton {
    ImVec2 low, high;
    ImGuiID control = 0;
    unsigned left_out = 0;  // a bit for each control that moved into the popover
};
/// One row at any width: preset, sentence, what is looked at, scaling, temperature, mask, gradients, "Model". What
/// does not fit moves into the popover.
ModelButton draw_controls(const view::ControlsView& view, const Frame& frame, view::Actions& out);
/// The popover under that button: sizes, window, seed, and what did not fit the row.
void draw_model(const view::ControlsView& view, const ModelButton& button, const Frame& frame,
                view::Actions& out);
/// The stages with live shapes; a click goes there.
void draw_ribbon(const std::vector<view::RibbonItem>& items, const Frame& frame,
                 view::Actions& out);

/// The current stage as operands → result, with its title, formula and one sentence, filling the
/// current window. `editing`: the cell being typed into. Returns what is under the pointer.
Pointed draw_canvas(const view::StepView& view, const std::optional<view::CellEdit>& editing,
                    const Frame& frame, view::Actions& out);

/// In the canvas's place: a bar for each entry of the row, which the hand drags or the keys change; once it is revealed
/// the row stands beside the guess.
void draw_prediction(const view::PredictView& view, const Frame& frame, view::Actions& out);

/// The text field over the cell that is being typed into.
void draw_cell_editor(const view::CellEdit& editing, ImVec2 low, ImVec2 size, const Frame& frame,
                      view::Actions& out);

}  // namespace attn::ui
