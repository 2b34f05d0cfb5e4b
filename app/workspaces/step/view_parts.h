#pragma once

#include <string>
#include <vector>

#include "app/workspaces/step/view.h"

namespace attn::view {

// Parts of build_step_view(), a file each.

/// ribbon.cpp: one stage of the ribbon, with its mark after an edit.
RibbonItem ribbon_item(const AppState& state, Stage stage);

// controls.cpp
ControlsView controls_of(const AppState& state);
/// "÷ √4 = 2", "× 0.5", "not scaled": without the temperature.
std::string factor_words(const Document& document);
/// The same with the temperature where it is not 1.
std::string scale_words(const Document& document);

// canvas.cpp
/// The operands, each in its slot, lit by what is pointed at or selected.
std::vector<GridView> canvas_of(const AppState& state, Stage stage);
/// The stage's own grid; of its gradient where that is what the canvas shows.
GridView result_of(const AppState& state, Stage stage);
/// The pointed cell's row and column, else the selected one's, and the focused query of whatever has its row.
void focus_grids(const AppState& state, StepView& view);
/// All of the matrix whose symbol is under the pointer, and nothing of the others.
void light_operand(const AppState& state, StepView& view);
/// Whether the output is mixed by W_O.
bool mixes(const Document& document);

// row_readouts.cpp
std::vector<RowReadouts> row_readouts(const AppState& state);
/// Beside each row of weights: how even it is as a bar, its largest weight, and what softmax divided by.
std::vector<SideVector> row_sides(const AppState& state, const StepView& view);

}  // namespace attn::view
