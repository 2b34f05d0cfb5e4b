#pragma once

#include "app/common/draw/frame.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/learn/view.h"

namespace attn::ui {

/// What is trained, and the buttons that train it.
void draw_learn_bar(const view::LearnView& view, const Frame& frame, view::Actions& out);
/// What is done with the moment that is shown: two lines of buttons.
void draw_learn_moment(const view::LearnView& view, const Frame& frame, view::Actions& out);
/// Every setting of both runs, a line each.
void draw_learn_settings(const view::LearnView& view, const view::AppState& state,
                         const Frame& frame, view::Actions& out);

}  // namespace attn::ui
