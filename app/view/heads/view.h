#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/view/common/grid.h"
#include "app/view/common/painter.h"
#include "app/view/heads/look.h"
#include "app/view/state.h"

namespace attn::view {

/// A small picture of a head's weights: a part of one picture that has them all.
struct HeadThumb {
    HeadPlace place;
    std::string title;  // "0·3"; with the value that the heads are sorted by: "0·3  0.54"
    std::string pin;    // "A", "B" or ""
    bool shown = false;
    Part part;
    float aspect = 1.0F;  // height over width
};
/// How the small pictures are coloured.
struct HeadsLegend {
    std::vector<Color> colors;  // from low to high
    std::string_view low, high;
    std::string_view words;  // "the same for all heads"
};
struct HeadsControls {
    std::vector<std::string> sort_names, sort_keys;
    int sort = 0;
    bool own_range = false;
    bool pinned = false;  // the head shown
    bool compares = false;
};

struct AllHeadsView {
    std::string lacks;    // why there is nothing; "": there is
    std::string point;    // the first line
    bool listed = false;  // one picture after the other, with titles; else a row is a layer
    Index layers = 0, columns = 0;                       // of the pictures by layer and head
    std::vector<std::string> layer_labels;               // "layer 0"
    std::vector<std::string> head_labels, head_numbers;  // "head 0", "0"
    std::vector<HeadThumb> thumbs;                       // in their order
    Picture picture;
    HeadsLegend legend;
    std::optional<HeadPlace> hovered;
    std::string hover_title, hover_words;
    std::vector<GridView> grids;  // the head shown; with two pinned A, B and A − B
    std::optional<large::Cell> hovered_pair;
    std::vector<std::string> notes;  // layers that cannot be computed
    HeadsControls controls;
    HeadPlace here;
};

AllHeadsView build_all_heads_view(const AppState& state);

/// The picture of all heads: tiles in rows by layer, one pixel a weight, of large ones the largest of several.
struct HeadsAtlas {
    Index tile = 1;  // pixels, of the largest
    Index layers = 0, columns = 0;
};
HeadsAtlas heads_atlas(const HeadsResult& result);
Picture heads_picture(const AppState& state, const HeadsAtlas& atlas);
/// Where in it a head stands.
Part heads_part(const HeadsResult& result, const HeadsAtlas& atlas, HeadPlace place);

}  // namespace attn::view
