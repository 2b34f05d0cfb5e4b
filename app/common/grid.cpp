#include "app/common/grid.h"

#include <cmath>

#include <fmt/format.h>

#include "app/common/color_look.h"
#include "app/common/document/solve.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/common/row_range.h"
#include "app/common/sheet.h"
#include "app/common/state.h"

namespace attn::view {
namespace {

constexpr Index kSpaciousColumns = 5;  // up to here a third decimal fits

bool all_exact(std::span<const float> values, double steps) {
    return std::all_of(values.begin(), values.end(), [&](float value) {
        return !std::isfinite(value) ||
               static_cast<float>(std::round(value * steps) / steps) == value;
    });
}

/// None for whole numbers, two where two are exact or room is short, else three; fewer as they grow.
int decimals_for(std::span<const float> values, Index columns) {
    float largest = 0.0F;
    for (const float value : values)
        if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
    if (all_exact(values, 1.0)) return 0;
    if (largest >= 1000.0F) return 0;
    if (largest >= 100.0F) return 1;
    return all_exact(values, 100.0) || columns > kSpaciousColumns || largest >= 10.0F ? 2 : 3;
}

CellLook look_of(float value, bool masked) {
    if (masked) return CellLook::masked;
    if (std::isnan(value)) return CellLook::not_a_number;
    return std::isinf(value) ? CellLook::infinite : CellLook::number;
}

Color fill_of(const CellView& cell, const ColorRange& range, ThemeName name) {
    if (cell.look == CellLook::masked) return theme(name).masked;
    if (cell.look == CellLook::not_a_number) return theme(name).nan;
    return color_of(range, cell.value, name);
}

/// A masked cell has a quieter ink than a weight of 0.
Color ink_of_cell(const CellView& cell, ThemeName name) {
    constexpr double kMaskedInk = 0.62;  // the least that reads (4.5:1) in both themes
    const Color ink = ink_on(cell.fill, name);
    return cell.look == CellLook::masked ? blend(cell.fill, ink, kMaskedInk) : ink;
}

CellView make_cell(float value, bool masked, const ColorRange& range, int decimals,
                   ThemeName name) {
    CellView cell;
    cell.value = value;
    cell.look = look_of(value, masked);
    cell.fill = fill_of(cell, range, name);
    cell.ink = ink_of_cell(cell, name);
    cell.text = cell_number(value, decimals);
    return cell;
}

std::vector<float> entries_of(const MatrixView<const float>& matrix) {
    std::vector<float> values;
    values.reserve(matrix.rows * matrix.columns);
    for (Index i = 0; i < matrix.rows; ++i)
        values.insert(values.end(), matrix.row(i).begin(), matrix.row(i).end());
    return values;
}

void transpose_labels(GridView& grid) {
    std::swap(grid.rows, grid.columns);
    std::swap(grid.row_labels, grid.column_labels);
    std::swap(grid.row_role, grid.column_role);
}

/// Row and column of a cell of the tensor, as drawn.
std::pair<Index, Index> drawn_at(const GridView& grid, const CellRef& cell) {
    if (grid.transposed) return {cell.column, cell.row};
    return {cell.row, cell.column - grid.first_column};
}

void select(const AppState& state, GridView& grid) {
    const auto& selected = state.selected;
    if (!selected || selected->tensor != grid.id) return;
    const auto [row, column] = drawn_at(grid, *selected);
    if (row >= grid.rows || column < 0 || column >= grid.columns) return;
    grid.selected = {row, column};
}

/// One a row of the tensor.
std::vector<ColorRange> ranges_of_rows(const ColorRange& whole, std::span<const float> values,
                                       Index columns, bool by_row) {
    std::vector<ColorRange> ranges;
    const auto width = static_cast<std::size_t>(columns);
    for (std::size_t at = 0; at + width <= values.size() && width > 0; at += width)
        ranges.push_back(by_row ? range_of_row(whole, values.subspan(at, width)) : whole);
    return ranges;
}

void add_cells(const AppState& state, GridView& grid, std::span<const float> values,
               const GridStyle& style) {
    const Index tensor_columns = grid.transposed ? grid.rows : grid.columns;
    const IsMasked& masked = style.masked;
    const auto ranges = ranges_of_rows(grid.range, values, tensor_columns, style.by_row);
    grid.decimals = decimals_for(values, grid.columns);
    grid.cells.reserve(values.size());
    for (const auto [row, column] : each_cell(grid)) {
        const auto n = static_cast<std::size_t>(grid.transposed ? column * tensor_columns + row
                                                                : row * tensor_columns + column);
        const bool hidden = !masked.empty() && masked[n] != 0;
        const auto tensor_row = static_cast<std::size_t>(grid.transposed ? column : row);
        grid.cells.push_back(
            make_cell(values[n], hidden, ranges[tensor_row], grid.decimals, state.theme));
    }
}

/// The colour bar in words. By row its numbers are shares of the row's largest.
void label_scale(GridView& grid, bool by_row) {
    const ColorRange& range = grid.range;
    grid.ticks.clear();
    grid.low_label = legend_tick(range.low);
    grid.high_label = by_row ? "the row's largest" : legend_tick(range.high);
    if (range.scale == ColorScale::diverging) return grid.ticks.push_back({0.5, "0"});
    const auto add = [&](double value, std::string label) {
        if (by_row || value < range.high)
            grid.ticks.push_back(
                {by_row ? std::sqrt(value) : position_of(range, value), std::move(label)});
    };
    const Index keys = grid.transposed ? grid.rows : grid.columns;
    if (!by_row && keys > 1)
        add(1.0 / static_cast<double>(keys), fmt::format("1/{}", keys));  // spread evenly
    for (const double share : {0.1, 0.5, 0.01})
        add(share,
            by_row ? fmt::format("{:g} %", 100.0 * share) : fmt::format("{:g}", share).substr(1));
    if (range.high > 1.0) add(1.0, "1");
}

}  // namespace

GridView make_grid(const AppState& state, const Sheet& sheet, const GridStyle& style) {
    GridView grid;
    grid.id = sheet.id;
    grid.title = name_of(sheet.id);
    grid.role = sheet.role;
    grid.editable = can_be_typed(state, sheet.id);
    grid.transposed = style.transposed;
    grid.rows = sheet.values.rows;
    grid.columns = sheet.values.columns;
    grid.row_labels = sheet.row_labels;
    grid.column_labels = sheet.column_labels;
    grid.row_role = sheet.row_role;
    grid.column_role = sheet.column_role;
    if (style.transposed) transpose_labels(grid);
    grid.shape = size(grid.rows, grid.columns);
    const std::vector<float> values = entries_of(sheet.values);
    grid.range = with_look(range_of(style.colors, values), color_look(state));
    label_scale(grid, style.by_row);
    add_cells(state, grid, values, style);
    select(state, grid);
    return grid;
}

void recolor(GridView& grid, const ColorRange& range, ThemeName name) {
    grid.range = range;
    label_scale(grid, false);
    for (CellView& cell : grid.cells) {
        cell.fill = fill_of(cell, range, name);
        cell.ink = ink_of_cell(cell, name);
    }
}

void share_range(const std::vector<GridView*>& grids, ThemeName name) {
    const auto is_weights = [](const GridView* grid) {
        return grid->range.scale == ColorScale::unit && grid->legend.empty();
    };
    double high = 0.0;
    for (const GridView* const grid : grids)
        if (is_weights(grid)) high = std::max(high, grid->range.high);
    for (GridView* const grid : grids) {
        if (!is_weights(grid) || grid->range.high == high) continue;
        ColorRange range = grid->range;
        range.high = high;
        recolor(*grid, range, name);
    }
}

void light(GridView& grid, const CellRef& cell) {
    if (grid.highlighted.empty()) grid.highlighted.assign(grid.cells.size(), false);
    const auto [row, column] = drawn_at(grid, cell);
    if (row < 0 || row >= grid.rows || column < 0 || column >= grid.columns) return;
    grid.highlighted[row * grid.columns + column] = true;
}

void light_row(GridView& grid, Index row) {
    const Index columns = grid.transposed ? grid.rows : grid.columns;
    for (Index column = 0; column < columns; ++column)
        light(grid, {grid.id, row, column + grid.first_column});
}

void light_column(GridView& grid, Index column) {
    const Index rows = grid.transposed ? grid.columns : grid.rows;
    for (Index row = 0; row < rows; ++row) light(grid, {grid.id, row, column});
}

GridView row_grid(const GridView& grid, Index row) {
    GridView one = grid;
    const auto slice = [&](auto& values) {
        if (values.empty()) return;
        const auto first = values.begin() + row * grid.columns;
        values = {first, first + grid.columns};
    };
    slice(one.cells);
    slice(one.highlighted);
    one.rows = 1;
    one.first_row = grid.first_row + row;
    one.row_labels = {grid.row_labels[row]};
    one.title += "[" + one.row_labels.front() + ", ·]";
    one.shape = size(1, one.columns);
    one.sides.clear();
    one.focus_row = 0;
    if (one.selected && one.selected->first == row)
        one.selected->first = 0;
    else
        one.selected.reset();
    return one;
}

void focus_on(GridView& grid, const CellRef& cell) {
    if (cell.tensor != grid.id) return;
    const auto [at, column] = drawn_at(grid, cell);
    const Index row = at - grid.first_row;
    if (row >= 0 && row < grid.rows) grid.focus_row = row;
    if (column >= 0 && column < grid.columns) grid.focus_column = column;
}

}  // namespace attn::view
