#pragma once

#include <imgui.h>

#include "app/common/draw/frame.h"
#include "app/common/draw/popover.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// The button that opens the popover: its place, and the controls that did not fit the row.
struct ModelButton {
    PopoverButton button;
    unsigned left_out = 0;  // a bit for each control that moved into the popover
};
/// One row at any width: preset, sentence, what is looked at, scaling, temperature, mask, gradients, "Model". What
/// does not fit moves into the popover.
ModelButton draw_controls(const ControlsView& view, const Frame& frame, Actions& out);
/// The popover under that button: sizes, window, seed, and what did not fit the row.
void draw_model(const ControlsView& view, const ModelButton& button, const Frame& frame,
                Actions& out);

}  // namespace attn::ui
