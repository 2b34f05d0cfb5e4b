#pragma once

#include <optional>
#include <string>

#include "app/view/common/cell.h"

namespace attn::view {

/// A cell being typed into.
struct CellEdit {
    CellRef cell;
    std::string draft;
};

/// What the Step workspace looks at. Not undone.
struct StepLook {
    Stage stage = Stage::x;
    std::optional<CellRef> selected;
    std::optional<CellEdit> editing;
    bool playing = false;
    std::string sentence_draft;   // what stands in the sentence field
    bool stepped_once = false;    // hides the first-launch line
    bool rows_scaled = false;     // the largest weight of each row has the full colour
    bool show_gradients = false;  // the canvas shows d_<stage> of L = Σ output

    // of the moment: in no session and no journal
    Stage previous = Stage::x;  // what the cross-fade comes from
    double fade = 1.0;          // 0 just stepped … 1 arrived
    double play_clock_s = 0.0;  // since the last step while playing
    std::optional<CellRef> hovered;
};

}  // namespace attn::view
