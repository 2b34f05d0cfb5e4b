#pragma once

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/step/heads.h"

namespace attn::ui {

/// Width of the strip: the same for any number of heads, 0 for a single one.
float heads_width(const view::HeadsView& view, const Frame& frame);
/// A small picture of every head, one beneath the other, in two columns where they are many; fills the current
/// window and scrolls. A click shows that head.
void draw_heads(const view::HeadsView& view, const Frame& frame, view::Actions& out);

}  // namespace attn::ui
