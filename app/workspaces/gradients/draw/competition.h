#pragma once

#include "app/common/draw/workspace.h"
#include "app/workspaces/gradients/view.h"

namespace attn::ui {

/// The tokens of a row, bars of their weights, and from the key whose score is raised an arrow to every key, as wide as what that
/// one gains or loses. A click chooses the key.
void draw_competition(const CompetitionView& view, const Box& box, const Frame& frame,
                      Actions& out);

}  // namespace attn::ui
