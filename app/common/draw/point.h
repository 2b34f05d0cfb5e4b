#pragma once

#include <string>
#include <vector>

#include "app/common/draw/workspace.h"

namespace attn::ui {

// What stands above the pictures of a workspace: the point in one line, and notes beneath it.

/// In title letters where it fits, else in body letters over two lines; `warns`: it tells of what goes wrong. Returns
/// where it ends.
float draw_point(const std::string& text, const Box& box, const Frame& frame, bool warns = false);
/// A sentence and, small beneath it, a note to it: items.
void draw_sentence(const std::string& sentence, const std::string& note, const Frame& frame);
/// A line each, from the top of `box`; what does not fit stands in a tooltip. Returns where they end.
float draw_notes(const std::vector<std::string>& notes, const Box& box, const Frame& frame);

}  // namespace attn::ui
