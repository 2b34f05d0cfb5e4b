#pragma once

#include <vector>

#include "app/common/draw/grid.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/step/draw/sentence.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// A narrower canvas, in design units, has the result alone.
inline constexpr float kNarrowCanvas = 360.0F;

/// Where the matrices of one stage stand, relative to the top left of the canvas: a cross. The result fills the hero's
/// box; a matrix that shares its rows stands left of it, one that shares its columns above, and each squeezes its other
/// axis.
struct CanvasLayout {
    std::vector<GridPlace> operands;
    GridPlace result;
    Box hero;                         // the cells of the result, the same at every stage
    ImVec2 largest;                   // cell of the hero, whatever the tokens
    ImVec2 arms;                      // width of the left part, height of the upper part
    float labels = 0.0F;              // width of the row labels, left of the arm
    float head = 0.0F;                // height of the column labels, above the arm
    float right = 0.0F;               // width of the part right of the hero
    float legend = 0.0F;              // height of the part below it
    ChipForm chips = ChipForm::none;  // of the column labels, where they are the sentence's words
    float chip = 0.0F;                // their height
    float arcs = 0.0F;                // room above these
};

/// As large as fits `available`. The hero's box depends on the document's tokens alone: not on stage or head, and on
/// widths only where they are few; a figure and a low canvas have the box of their own stage. Low windows have words and arcs above the
/// weights and no bars: their operand has no height.
CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available);

}  // namespace attn::ui
