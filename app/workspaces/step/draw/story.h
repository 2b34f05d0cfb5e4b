#pragma once

#include "app/workspaces/step/draw/layout.h"

namespace attn::ui {

/// The first moments at a stage, view.fade from 0 to 1: the sources of the focused cell leave their matrices for it and
/// meet there. `origin`: the top left of the canvas on screen. Draws nothing once the stage has arrived, where no cell
/// is focused, or where it has too many sources to follow.
void draw_story(const view::StepView& view, const CanvasLayout& layout, ImVec2 origin,
                const Frame& frame);

}  // namespace attn::ui
