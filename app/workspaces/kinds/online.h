#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/grid.h"
#include "app/workspaces/kinds/controls.h"

namespace attn::view {

struct AppState;

// The tiled online softmax of one row, chunk by chunk. What comes later is not shown before it is stepped to.

/// One key of the row.
struct OnlineKey {
    enum class When : std::uint8_t { seen, now, later };
    std::string label;
    When when = When::later;
    bool masked = false;     // shown as soon as its chunk is there
    double score = 0.0;      // M_j; 0 while it is to come
    std::string score_text;  // "1.23", "−∞"; "" while it is to come
    double term = 0.0;       // exp(M_j − m) under the present m
    std::string term_text;
    std::string tooltip;
};

struct OnlineView {
    std::string fault;     // why there is nothing to step through; "": there is
    std::string heading;   // "row cat of A: scaled dot product"
    std::string sentence;  // what this chunk did
    std::string step;      // "chunk 2 of 3"
    Index taken = 0, chunks = 0, chunk_keys = 1;
    bool playing = false;
    KindsSide side = KindsSide::a;
    std::vector<OnlineKey> keys;
    std::optional<double> largest;  // m, a line over the scores; none while nothing was seen
    std::string largest_text;
    std::vector<std::string> tex;    // what happens, with this step's numbers
    GridView state;                  // before, × α, + chunk, after; columns ℓ and O
    std::optional<GridView> result;  // at the end: O / ℓ, ordinary softmax, their difference
    std::string result_text;
    std::string memory;  // what is kept
};

/// So many chunks the present row has.
Index online_chunks(const AppState& state);
/// What the step just did, in words: the bottom line.
std::string online_text(const AppState& state);
OnlineView build_online_view(const AppState& state);

}  // namespace attn::view
