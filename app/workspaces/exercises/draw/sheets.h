#pragma once

#include "app/common/draw/workspace.h"
#include "app/workspaces/exercises/view.h"

namespace attn::ui {

/// A card for each sheet: its title, what it is about as a formula, and a dot for each question, filled where it was
/// solved.
void draw_sheets(const view::ExercisesView& view, const Box& box, const Frame& frame,
                 view::Actions& out);

}  // namespace attn::ui
