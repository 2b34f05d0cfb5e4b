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

/// What gradients are of. sum: Σ of all outputs; cell: one output; squared: ½ Σ (output − target)².
enum class LossKind : std::uint8_t { sum, cell, squared };
struct Loss {
    LossKind kind = LossKind::sum;
    OutputCell cell;  // of `cell`
    bool operator==(const Loss&) const = default;
};

/// What the Step workspace looks at. Not undone.
struct StepLook {
    Stage stage = Stage::x;
    std::optional<CellRef> selected;
    std::optional<CellEdit> editing;
    bool playing = false;
    std::string sentence_draft;   // what stands in the sentence field
    bool stepped_once = false;    // hides the first-launch line
    bool show_gradients = false;  // the canvas shows ∂L/∂<stage>
    Loss loss;                    // L; loss_of() has the one that holds

    // of the moment: in no session and no journal
    Stage previous = Stage::x;  // what the cross-fade comes from
    double fade = 1.0;          // 0 just stepped … 1 arrived
    double play_clock_s = 0.0;  // since the last step while playing
    std::optional<CellRef> hovered;
};

}  // namespace attn::view
