#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "app/view/common/cell.h"

namespace attn::view {

/// A cell being typed into.
struct CellEdit {
    CellRef cell;
    std::string draft;
};

/// A place in the result of a stage.
struct Place {
    Index row = 0;
    Index column = 0;
    bool operator==(const Place&) const = default;
};
/// Where each kind of stage was looked at, by kind_of_place(): scores, scaled, masked and weights are one kind.
inline constexpr std::size_t kPlaceKinds = 12;  // rows (query, key) × columns (six axes)
using Places = std::array<std::optional<Place>, kPlaceKinds>;

/// A number that was just replaced by another.
struct EditFlash {
    CellRef cell;
    float before = 0.0F;
    float after = 0.0F;
    double age_s = 0.0;
};
inline constexpr double kFlashSeconds = 1.5;
/// What gradients are of. sum: Σ of all outputs; cell: one output; squared: ½ Σ (output − target)²; cross_entropy: −ln softmax(y)[c] of
/// one output row y as logits; file: Σ dY ∘ output, with dY a file's array.
enum class LossKind : std::uint8_t { sum, cell, squared, cross_entropy, file };
struct Loss {
    LossKind kind = LossKind::sum;
    OutputCell cell;  // of `cell`; of `cross_entropy` the row and the class c
    bool operator==(const Loss&) const = default;
};

/// A person's guess of one row of a stage, before it is shown.
struct Prediction {
    Stage stage = Stage::weights;
    Index batch = 0, head = 0, row = 0;
    std::vector<double> guess;
    Index column = 0;       // that the keys change
    bool revealed = false;  // the row stands beside the guess
    bool closed = false;    // it was seen: the canvas is shown
};

/// What the Step workspace looks at. Not undone.
struct StepLook {
    Stage stage = Stage::x;
    std::optional<CellRef>
        selected;  // always a cell that exists; none where there is nothing to be looked at
    std::optional<CellRef>
        chosen;     // what a person selected: also while the document has no such cell
    Places places;  // the same of every kind of stage
    std::optional<CellEdit> editing;
    bool playing = false;
    std::string sentence_draft;   // what stands in the sentence field
    bool stepped_once = false;    // hides the first-launch line
    bool rows_scaled = false;     // the largest weight of each row has the full colour
    bool show_gradients = false;  // the canvas shows ∂L/∂<stage>
    Loss loss;                    // L; loss_of() has the one that holds
    bool model_open = false;      // the sizes and the seed, under the row of controls
    bool predicts = false;        // each stage is guessed before it is shown

    // of the moment: in no session and no journal
    Stage previous = Stage::x;  // what the cross-fade comes from
    double fade = 1.0;          // 0 just stepped … 1 arrived
    double play_clock_s = 0.0;  // since the last step while playing
    std::optional<CellRef> hovered;
    std::optional<OperandId> lit;  // the matrix whose symbol is under the pointer
    std::optional<EditFlash> flash;
    std::optional<Prediction> prediction;
};

}  // namespace attn::view
