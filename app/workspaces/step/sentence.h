#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/cell.h"
#include "app/common/theme.h"

namespace attn::view {

struct AppState;

// The sentence above the canvas: a chip for each word, shaded by how much the query that is looked at attends to it,
// and the same in words. The story is told step by step: up to the masked scores no weight is known yet.

/// plain: no weight is known yet.
/// left_out stands for words that are not shown.
enum class ChipLook : std::uint8_t { plain, weighed, masked, not_a_number, left_out };

struct WordChip {
    std::string text;     // as on the labels of the matrices: "the₂"
    std::string tooltip;  // "golden → my: 10.3 %"
    ChipLook look = ChipLook::plain;
    double weight = 0.0;  // of a weighed one; dropout may make it larger than 1
    Color fill, ink;
    bool is_query = false;
    bool is_key = false;  // of the cell that is looked at
    /// What pointing at it looks at, and a click selects; nullopt: this stage has no cell of it.
    std::optional<CellRef> cell;
};

/// Words of a row, at most.
inline constexpr Index kMostChips = 64;

/// Words side by side; of very long sentences those around what is looked at.
struct WordRow {
    std::vector<WordChip> chips;  // "… 120 more" first or last where words are left out
    Index first = 0;              // token of the first word shown
};

struct SentenceView {
    WordRow queries;
    WordRow keys;                // cross-attention's own; empty: the queries are the keys
    std::optional<Index> query;  // that is looked at
    bool weighed = false;        // its weights are known: arcs may be drawn
    std::string text;            // "golden looks at golden 56 %, my 10 %, and 34 % on 17 others."

    bool empty() const { return queries.chips.empty(); }
    const WordRow& attended() const { return keys.chips.empty() ? queries : keys; }
};

SentenceView build_sentence_view(const AppState& state);

}  // namespace attn::view
