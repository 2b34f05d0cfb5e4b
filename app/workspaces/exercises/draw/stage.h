#pragma once

#include "app/common/draw/workspace.h"
#include "app/workspaces/exercises/view.h"

namespace attn::ui {

/// One question at a time: the given numbers as large matrices, next to them the question, its blanks or choices, the
/// result of a check, and small links to the other questions.
void draw_stage(const view::ExercisesView& view, const Box& box, const Frame& frame,
                view::Actions& out);

}  // namespace attn::ui
