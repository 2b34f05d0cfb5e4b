#pragma once

#include "app/common/draw/frame.h"
#include "app/workspaces/step/heads.h"

namespace attn::ui {

/// Width of the strip: the same for any number of heads, 0 for a single one.
float heads_width(const HeadsView& view, const Frame& frame);
/// A small picture of every head, one beneath the other, in two columns where they are many; fills the current
/// window and scrolls. A click shows that head.
void draw_heads(const HeadsView& view, const Frame& frame, Actions& out);

}  // namespace attn::ui
