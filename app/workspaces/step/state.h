#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/common/cell.h"
#include "app/common/slots.h"

namespace attn::view {

/// A cell being typed into.
struct CellEdit {
    CellRef cell;
    std::string draft;
};
inline void describe(Visitor& visit, CellEdit& edit) {
    visit("cell", edit.cell);
    visit("draft", edit.draft);
}

/// A number that was just replaced by another.
struct EditFlash {
    CellRef cell;
    float before = 0.0F;
    float after = 0.0F;
    double age_s = 0.0;
};
inline constexpr double kFlashSeconds = 1.5;

/// A person's guess of one row of a stage, before it is shown.
struct Prediction {
    Stage stage = Stage::weights;
    Index batch = 0, head = 0, row = 0;
    std::vector<double> guess;
    Index column = 0;       // that the keys change
    bool revealed = false;  // the row stands beside the guess
    bool closed = false;    // it was seen: the canvas is shown
};

void describe(Visitor& visit, Prediction& guess);

/// The numbers of a stage as they stood.
struct ShownValues {
    Stage stage = Stage::x;
    std::vector<std::string> labels;  // of rows and columns
    std::vector<float> values;
};
/// Numbers on their way to what they are: motion.h.
struct Motion {
    Stage stage = Stage::x;
    std::vector<float> from, to;
    double part = 0.0;  // 0 just left … 1 arrived
};

/// How the Step workspace looks at the stage that all workspaces share (AppState::stage). Not undone.
struct StageCells;

struct StepLook {
    std::optional<CellEdit> editing;
    bool playing = false;
    bool stepped_once = false;  // hides the first-launch line
    bool rows_scaled = false;   // the largest weight of each row has the full colour
    bool model_open = false;    // the sizes and the seed, under the row of controls
    bool predicts = false;      // each stage is guessed before it is shown

    // of the moment: in no session and no journal
    Stage previous = Stage::x;             // what the cross-fade comes from
    double fade = 1.0;                     // 0 just stepped … 1 arrived
    double play_clock_s = 0.0;             // since the last step while playing
    std::optional<OperandId> highlighted;  // the matrix whose symbol is under the pointer
    std::optional<EditFlash> flash;
    std::optional<Prediction> prediction;
    bool ticks = false;  // the clock of a window does
    std::optional<ShownValues> shown;
    std::optional<Motion> motion;
    std::shared_ptr<const StageCells> cells;  // see follow_stage_cells()
    bool start_buttons = false;               // what to do first is offered under the weights
    bool refused = false;  // the last thing that was asked for was to edit what is computed
};

inline constexpr Look<StepLook> step_look;

}  // namespace attn::view
