#pragma once

#include <optional>

#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/draw/frame.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/sentence.h"

namespace attn::ui {

/// What the sentence takes in height: the same at every stage and whatever is looked at; 0 without words.
float sentence_height(const view::SentenceView& view, const Frame& frame, float width);

/// The words as chips, arcs from the query to what it attends to, and the same in words; fills the current
/// window. Appends SelectCell. Returns the cell that stands for the word under the pointer.
std::optional<view::CellRef> draw_sentence(const view::SentenceView& view, const Frame& frame,
                                           view::Actions& out);

}  // namespace attn::ui
