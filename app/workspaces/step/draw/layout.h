#pragma once

#include <vector>

#include "app/common/draw/grid.h"
#include "app/common/draw/workspace.h"
#include "app/workspaces/step/view.h"

namespace attn::ui {

/// Where the matrices of one stage stand, relative to the top left of the canvas: a cross. The result, or the weights
/// that make it, fills the hero's box; a matrix that shares its rows stands left of it, one that shares its columns
/// above, and each squeezes its other axis.
struct CanvasLayout {
    std::vector<GridPlace> operands;
    GridPlace result;
    Box hero;             // where scores and weights stand at every stage: their cells alone
    ImVec2 arms;          // width of what stands left, height of what stands above
    float labels = 0.0F;  // width of the row labels, left of the arm
    float head = 0.0F;    // height of the column labels, above the arm
    float right = 0.0F;   // width of what stands right of the hero
    float legend = 0.0F;  // height of what stands below it
    bool chips = false;   // the column labels are the sentence's words
    float arcs = 0.0F;    // room above these
};

/// As large as fits `available`. The boxes depend on the document's tokens alone: not on stage, head or widths,
/// but for the weights, over which the sentence stands in the operands' place.
CanvasLayout lay_out_canvas(const StepView& view, const Frame& frame, ImVec2 available);

}  // namespace attn::ui
