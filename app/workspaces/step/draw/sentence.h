#pragma once

#include <imgui.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/common/draw/frame.h"
#include "app/workspaces/step/sentence.h"

namespace attn::ui {

/// How chips stand above columns. Level: each has its middle over its column, and wide ones use the space of narrow
/// neighbours. Upright: the words run up, where the columns are too narrow for that. None: narrower than a line.
enum class ChipForm : std::uint8_t { none, level, upright };

/// From one column to the next, at least, for level chips of these words.
float level_pitch(const std::vector<std::string>& labels, const Frame& frame);
ChipForm chip_form(const std::vector<std::string>& labels, float pitch, const Frame& frame);
/// Of a chip, as high as the longest word asks for.
float chip_height(const std::vector<std::string>& labels, ChipForm form, const Frame& frame);

/// Left and right of a chip, from where the columns begin.
struct ChipSpan {
    float low = 0.0F, high = 0.0F;
};
/// Chips of such widths side by side, each with its middle over its own column; empty: the columns are too narrow.
std::vector<ChipSpan> level_spans(std::span<const float> widths, float pitch);

/// Places of the words above the columns of a matrix, in pixels on screen.
struct WordColumns {
    ImVec2 low;           // top left of the first column
    float pitch = 0.0F;   // from one column to the next
    float height = 0.0F;  // of a chip
    float arcs = 0.0F;    // room for them above the chips; 0: none are drawn
    ChipForm form = ChipForm::level;
};

/// The words that are attended to as chips over their columns, and arcs from the query to them where it is one of them.
/// Appends SelectCell. Returns the cell of the word under the pointer.
std::optional<CellRef> draw_sentence(const SentenceView& view, const WordColumns& at,
                                     const Frame& frame, Actions& out);

}  // namespace attn::ui
