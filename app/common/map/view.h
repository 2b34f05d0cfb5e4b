#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/common/image.h"
#include "app/common/theme.h"
#include "core/large/cell.h"

namespace attn::view {

struct AppState;
struct MapLook;

// The map as drawn. Pixels are counted from the canvas's top left corner.

struct PixelRect {
    double left = 0.0, top = 0.0, right = 0.0, bottom = 0.0;
};

/// One tile: a picture stretched over a rectangle. `paint` makes the pixels; it is called only when
/// no texture of that key is there yet.
struct MapPicture {
    PixelRect where;
    std::uint64_t content_key = 0;
    std::function<Image()> paint;
};

/// A cell large enough to hold its number.
struct MapFigure {
    PixelRect where;
    std::string text;
    Color ink;
};

/// A mark of a ruler, at `at` pixels along it.
struct RulerMark {
    double at = 0.0;
    std::string label;     // "65,536", or a token
    bool strong = false;   // the start of a document, a round number
    double space = 0.0;    // a word is cut to so many pixels; 0: it is not
    bool chosen = false;   // of what is selected: its label is never left out
    bool upright = false;  // a word over a column that is narrower
};

/// A profile along an edge: one bar for each texel. A bar reaches along the edge in canvas pixels and
/// away from the canvas from 0 to its share of the full length: `right` of a row's bar, `bottom` of a
/// column's.
struct MapProfile {
    std::string title;    // "mean weight per key over the 128 queries in view"
    std::string caption;  // "mean weight per key"
    std::string tooltip;  // its formula
    std::vector<PixelRect> bars;
    std::vector<PixelRect> nans;  // of full length: no number stands for them
    std::string largest;          // the full length of a bar stands for this
};

struct MapMark {
    double x = 0.0, y = 0.0;
    std::string label;  // "needle"
};

/// The colour bar.
struct MapLegend {
    std::string title;          // "largest weight of 64 × 64 cells"
    std::vector<Color> colors;  // left to right, evenly
    struct Tick {
        double at;  // 0…1
        std::string label;
    };
    std::vector<Tick> ticks;
    std::string masked;  // "masked" when the view has such cells, else ""
    Color masked_color;
    std::string nan;  // "3,072 NaN, first 12 → 0"; "" where none is
    Color nan_color;
    std::string infinite;  // "±∞" where a score in view is
    Color infinite_color;
    std::string note;  // "1 % to 99.9 % of the texels in view, log scale"
};

struct Minimap {
    std::optional<MapPicture> picture;  // over the whole minimap
    PixelRect view;                     // 0…1 of the minimap in both directions
};

/// The exact pass, as a line and a bar.
struct PassView {
    std::string text;    // "exact overview 43 %, 11 s left", "sampled: 3,576 of 131,072 rows"
    std::string detail;  // "standard error of a texel: median 3 %, 95 % of them below 11 %"
    double fraction = 0.0;
    bool done = false;  // nothing is left to show of it but its words
    bool offer_start = false, offer_pause = false;
    std::string start_text;  // "exact pass: about 13 min"
};

struct MapView {
    bool empty = true;  // no matrix yet: `hint` and the generator stand on the canvas
    bool loading = false;
    std::string hint;
    std::string fault;

    std::string title;  // "131,072 × 131,072, generated, seed 1"; of one among several its name
    Role role = Role::weight;  // whose colour that has
    std::string quality;       // "exact", "sampled preview", "exact where drawn in full"
    bool sampled = false;      // some of what is drawn is an estimate
    bool flawed = false;       // a number is not finite: `quality` says so

    PixelRect matrix;                  // clipped to nothing: may reach beyond the canvas
    std::vector<MapPicture> pictures;  // in order
    std::vector<MapFigure> figures;
    std::vector<RulerMark> row_ruler, column_ruler;
    std::string row_title, column_title;  // "query i", "key j"
    std::optional<MapProfile> row_profile, column_profile;
    std::vector<MapMark> marks;
    std::optional<PixelRect> selected, hovered;
    std::string hover_text;  // "query 70,001 (doc 12) → key 5: 0.0312"
    Minimap minimap;
    MapLegend legend;
    PassView pass;
    std::string zoom_text;  // "1 px = 64 × 64 cells" or "1 cell = 24 px"
};

MapView build_map_view(const AppState& state);
/// "1 px = 64 × 64 cells", "1 cell = 24 px".
std::string zoom_text(const MapLook& look);

/// What the canvas position shows; nullopt outside the matrix.
std::optional<large::Cell> cell_at(const MapLook& look, double x, double y);

/// How far the exact overview is, and how good the sampled one.
PassView pass_view(const MapLook& look);

}  // namespace attn::view
