#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/grid.h"
#include "app/common/painter.h"
#include "app/workspaces/heads/state.h"

namespace attn::view {

// A head in another form than a matrix: as lines between tokens, as the text that one query sees, and its scores by
// dimension. Only where undefined_words() is "", but for the dimensions.

/// From a query, left, to a key, right.
struct HeadLine {
    Index query = 0, key = 0;
    float strength = 0.0F;  // 0 … 1, of width and opacity
    Color color;
};
struct HeadLinesView {
    std::string title;
    std::vector<std::string> queries, keys;
    std::vector<HeadLine>
        lines;  // the strongest last; those of less than kLeastLine of the range are left out
    Index query = 0, key = 0;  // chosen
    std::vector<std::string> legend;
};
inline constexpr double kLeastLine = 0.02;
HeadLinesView head_lines(const AppState& state, HeadPlace place);

enum class HeadChipLook : std::uint8_t { plain, number, masked, not_a_number, clipped };
struct HeadChip {
    std::string text;
    HeadChipLook look = HeadChipLook::plain;
    Color fill, ink;
    std::string tooltip;
    bool is_query = false, is_key = false;
};
struct HeadTextView {
    std::string title;
    std::vector<HeadChip> queries;  // empty: the keys are the same tokens
    std::vector<HeadChip> keys;
    Index patch_side =
        0;  // after the first key so many rows of so many patches of an image; 0: words
    std::optional<Picture> image;  // whose patches they are, where it is known
    std::vector<std::string> legend;
};
HeadTextView head_text(const AppState& state, HeadPlace place);

/// q_d · k_d of the chosen query: a row a key, a column a dimension, the score as the sum at the right.
struct HeadDimensionsView {
    std::string lacks;
    std::optional<GridView> grid;
    std::vector<std::string> legend;
};
HeadDimensionsView head_dimensions(const AppState& state, HeadPlace place);

}  // namespace attn::view
