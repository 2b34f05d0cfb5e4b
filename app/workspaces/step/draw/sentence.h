#pragma once

#include <imgui.h>

#include <optional>

#include "app/common/draw/frame.h"
#include "app/workspaces/step/actions.h"
#include "app/workspaces/step/sentence.h"

namespace attn::ui {

/// Places of the words above the columns of a matrix, in pixels on screen.
struct WordColumns {
    ImVec2 low;           // top left of the first chip
    float pitch = 0.0F;   // from one column to the next
    float height = 0.0F;  // of a chip
    float arcs = 0.0F;    // room for them above the chips; 0: none are drawn
};

/// The words that are attended to as chips over their columns, and arcs from the query to them where it is one of them.
/// Appends SelectCell. Returns the cell of the word under the pointer.
std::optional<CellRef> draw_sentence(const SentenceView& view, const WordColumns& at,
                                     const Frame& frame, Actions& out);

}  // namespace attn::ui
