#pragma once

#include <string>
#include <vector>

#include "app/common/grid.h"

namespace attn::view {

struct Document;
struct StepView;

// Parts of build_step_view(): canvas.cpp, and what it asks of view.cpp.

/// The operands, each in its slot, lit by what is pointed at or selected.
std::vector<GridView> canvas_of(const AppState& state, Stage stage);
/// The stage's own grid; of its gradient where that is what the canvas shows.
GridView result_of(const AppState& state, Stage stage);
/// The pointed cell's row and column, else the selected one's, and the focused query of whatever has its row.
void focus_grids(const AppState& state, StepView& view);
/// The query whose row is written out: the pointed one, else the selected one, else the first.
Index focused_row(const AppState& state);
/// The weight under the pointer, at the stages whose headline and arcs follow the pointer: ring and inspector go with them.
std::optional<CellRef> hovered_weight(const AppState& state);
/// All of the matrix whose symbol is under the pointer, and nothing of the others.
void light_operand(const AppState& state, StepView& view);
/// Whether the output is mixed by W_O.
bool mixes(const Document& document);

/// "÷ √4 = 2", "× 0.5", "not scaled", with the temperature where it is not 1.
std::string scale_description(const Document& document);

// What the canvas shows of gradients.

/// ∂L/∂ of a stage or parameter, the head shown.
GridView gradient_grid(const AppState& state, const OperandId& id);
/// What stands around ∂L/∂stage: above, each parameter of the step and its gradient; left, the stage's value;
/// right, what the outputs should be, or parameters that share no column with the stage.
std::vector<GridView> gradient_operands(const AppState& state, Stage stage);
/// One sentence: what L is, its value, and the largest gradient of the stage's head shown.
std::string gradient_text(const AppState& state, Stage stage);

}  // namespace attn::view
