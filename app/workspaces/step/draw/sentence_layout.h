#pragma once

#include <vector>

#include "app/common/draw/frame.h"
#include "app/workspaces/step/sentence.h"

namespace attn::ui {

/// A chip, relative to the top left of the sentence.
struct ChipPlace {
    view::Point low, high;

    bool is_empty() const { return high.x <= low.x; }  // left out
};

struct SentenceLayout {
    std::vector<ChipPlace> queries, keys;
    std::vector<ChipPlace> more;  // "…" where words are left out
    view::Font font;
    float padding = 0.0F;  // left and right of a word
    float arcs = 0.0F;     // room for them above the chips; 0: none are drawn
    float words = 0.0F;    // where the words begin
    float height = 0.0F;   // of all
};

/// One line of chips with arcs above it; else smaller ones, then two lines without arcs, then cut words; where these
/// would be cut to a few letters, those around the query alone. The height is the same whatever is looked at. A low
/// window has no arcs, a lower one no second line, the lowest no chips.
SentenceLayout lay_out_sentence(const view::SentenceView& view, const Frame& frame, float width);

}  // namespace attn::ui
