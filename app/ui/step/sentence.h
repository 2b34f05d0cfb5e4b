#pragma once

#include <optional>

#include "app/ui/common/frame.h"
#include "app/view/actions.h"
#include "app/view/step/sentence.h"

namespace attn::ui {

/// What the sentence takes in height: the same at every stage and whatever is looked at; 0 without words.
float sentence_height(const view::SentenceView& view, const Frame& frame, float width);

/// The words as chips, arcs from the query to what it attends to, and the same in words; fills the current
/// window. Appends SelectCell. Returns the cell that stands for the word under the pointer.
std::optional<view::CellRef> draw_sentence(const view::SentenceView& view, const Frame& frame,
                                           view::Actions& out);

}  // namespace attn::ui
