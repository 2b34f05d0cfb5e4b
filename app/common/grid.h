#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/common/cell.h"
#include "app/common/colormap.h"

namespace attn::view {

struct AppState;
struct Sheet;

/// Masked, −∞, NaN and 0 are four different looks.
enum class CellLook : std::uint8_t { number, masked, infinite, not_a_number };

struct CellView {
    double value = 0.0;
    CellLook look = CellLook::number;
    Color fill;
    Color ink;
    std::string text;  // at full length; a narrow cell shows fewer decimals
};

/// A column of numbers next to a grid: row sums, row max m, Σexp.
struct SideVector {
    std::string title;    // "Σ", "max m", "Σ exp"
    std::string tooltip;  // its formula
    std::vector<std::string> cells;
    Role role = Role::score;
    std::vector<double> bars = {};            // 0 … 1 behind each number; empty: none
    std::vector<std::string> cell_tips = {};  // of each number; empty: none
};

/// Where the canvas of a stage puts a matrix: in the middle, or next to the matrix whose axis it shares.
enum class Slot : std::uint8_t { hero, left, top, right };

/// Columns that belong together: one head's of joined heads.
struct ColumnGroup {
    Index first = 0;  // as drawn, up to the next group's
    std::string label;
    bool shown = false;  // the head on the canvas
};

/// A mark on the colour bar.
struct BarTick {
    double position = 0.0;  // 0…1 along the bar
    std::string label;
    bool operator==(const BarTick&) const = default;
};

/// One matrix as drawn. Rows and columns are as drawn: K in "Q × Kᵀ" comes transposed.
struct GridView {
    OperandId id = Stage::x;
    std::string title;    // "Kᵀ"
    std::string shape;    // "2 × 4"
    std::string tooltip;  // formula and full shape
    Role role = Role::input;
    bool transposed = false;
    bool editable = false;
    Index rows = 0;
    Index columns = 0;
    /// Tensor column of drawn column 0; not 0 only where heads are joined (see Sheet).
    Index first_column = 0;
    Index first_row = 0;      // tensor row of drawn row 0; not 0 where one row represents a matrix
    Slot slot = Slot::hero;   // on the canvas of its stage
    std::string action = {};  // what happens on the way from here to the hero: "÷ √4 = 2"
    bool as_bars = false;     // each cell is a bar from its foot, as high as its share of the range
    bool plus = false;        // positive numbers are written with their sign
    /// The row and column whose numbers are shown where all do not fit, as drawn.
    std::optional<Index> focus_row, focus_column;
    std::vector<std::string> row_labels;  // tokens, or "0", "1", … for widths
    std::vector<std::string> column_labels;
    Role row_role = Role::query;  // label colours
    Role column_role = Role::key;
    std::vector<CellView> cells;    // row-major as drawn
    std::vector<bool> highlighted;  // sources of the focused cell; empty: nothing is lit
    std::optional<std::pair<Index, Index>> selected;  // (row, column) as drawn
    int decimals = 2;                                 // of the cell texts
    ColorRange range;
    std::string low_label, high_label;  // of the colour bar
    std::vector<BarTick> ticks;  // between its ends, the most important first; 0 is one of them
    std::optional<bool> rows_scaled;  // of weights: whether each row's largest has the full colour
    std::vector<std::string> legend;  // lines that replace it where colours are not a scale
    std::vector<SideVector> sides;    // to the right of the grid
    std::vector<ColumnGroup> groups;  // what joined matrices are made of; empty: one matrix

    const CellView& at(Index row, Index column) const { return cells[row * columns + column]; }
    /// The cell of the tensor that is drawn at (row, column).
    CellRef ref(Index row, Index column) const {
        return transposed ? CellRef{id, column, row}
                          : CellRef{id, row + first_row, column + first_column};
    }
};

// From a sheet to the grid that is drawn: text, colour and look of every cell.

/// A cell in tensor coordinates that the mask forbids is `masked`, not −∞.
using IsMasked = std::vector<std::uint8_t>;  // [rows, columns], empty: none is

struct GridStyle {
    ColorScale colors = ColorScale::diverging;
    bool transposed = false;
    IsMasked masked;
    bool by_row = false;  // the largest of each row of the tensor has the full colour
};
GridView make_grid(const AppState& state, const Sheet& sheet, const GridStyle& style);

/// Colours its numbers by that range, and labels the bar.
void recolor(GridView& grid, const ColorRange& range, ThemeName name);
/// Gives adjacent matrices of weights one range: to the largest of them all.
void share_range(const std::vector<GridView*>& grids, ThemeName name);

/// Lights `cell` of the tensor, wherever the grid draws it.
void light(GridView& grid, const CellRef& cell);
void light_row(GridView& grid, Index row);        // of the tensor
void light_column(GridView& grid, Index column);  // of the tensor

/// Drawn row `row` of a grid that is not transposed, as a grid of its own.
GridView row_grid(const GridView& grid, Index row);
/// Sets the focus to where `cell` of the tensor is drawn, if it is.
void focus_on(GridView& grid, const CellRef& cell);

}  // namespace attn::view
