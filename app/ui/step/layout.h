#pragma once

#include <string>
#include <vector>

#include "app/ui/common/grid.h"
#include "app/view/step/view.h"

namespace attn::ui {

/// Where the matrices of one stage stand, relative to the top left of the canvas.
struct CanvasLayout {
    std::vector<GridPlace> operands;
    std::vector<ImVec2> operators;  // middle of each; one after every operand
    std::vector<float> operator_widths;
    GridPlace result;
    float left = 0.0F;  // where the first row labels begin
    ImVec2 size;  // of everything; wider than `available` when even the smallest cells do not fit
};

/// The face of the signs between matrices: smaller where the canvas is narrow.
Font operator_font(const Frame& frame, float available);

/// "softmax →\nm = max_j M": the words, an arrow beneath them, and a small note beneath that.
struct OperatorText {
    std::string words, note;
    bool arrow = false;
};
OperatorText operator_text(const std::string& sign);
/// Room for a sign between two matrices.
float operator_width(const Frame& frame, const std::string& sign, float available);

/// One cell size for all matrices of the stage: as large as fits `available`, up to 96 design
/// units, never under 6. A score or weight matrix [Tq, Tk] gets the same place and cell size at every
/// stage that has one, so that the eye keeps its cell.
CanvasLayout lay_out_canvas(const view::StepView& view, const Frame& frame, ImVec2 available);

}  // namespace attn::ui
