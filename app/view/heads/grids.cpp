#include "app/view/heads/grids.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/view/common/format.h"
#include "app/view/heads/words.h"

namespace attn::view {
namespace {

IsMasked masked_of(const std::vector<std::uint8_t>& allowed, MatrixView<const float> values) {
    IsMasked masked(allowed.size());
    for (std::size_t n = 0; n < allowed.size(); ++n) {
        const auto at = static_cast<Index>(n);
        const bool nan = std::isnan(values(at / values.columns, at % values.columns));
        masked[n] = allowed[n] == 0 && !nan ? 1 : 0;
    }
    return masked;
}

/// The shared pair, where this matrix has it; the pointed one has its numbers.
void set_pair(const AppState& state, GridView& grid) {
    const HeadsLook& look = state.heads;
    const auto inside = [&](large::Cell cell) {
        return cell.row < grid.rows && cell.column < grid.columns;
    };
    grid.selected.reset();
    if (inside(look.pair)) grid.selected = {look.pair.row, look.pair.column};
    const large::Cell focus = look.hovered_pair.value_or(look.pair);
    if (!inside(focus)) return;
    grid.focus_row = focus.row;
    grid.focus_column = focus.column;
}

GridView grid_of(const AppState& state, MatrixView<const float> values, const GridStyle& style,
                 std::string title) {
    const Document& document = state.document();
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = values;
    sheet.row_labels = axis_labels(document, Axis::query, values.rows);
    sheet.column_labels = axis_labels(document, Axis::key, values.columns);
    sheet.role = Role::weight;
    GridView grid = make_grid(state, sheet, style);
    grid.title = std::move(title);
    grid.editable = false;
    set_pair(state, grid);
    return grid;
}

/// Colours that end at the largest weight.
void end_colors_at(GridView& grid, double high, ThemeName name) {
    grid.range.high = high;
    grid.high_label = tick(high);
    grid.ticks.clear();
    for (CellView& cell : grid.cells) {
        if (cell.look != CellLook::number) continue;
        cell.fill = color_of(grid.range, cell.value, name);
        cell.ink = ink_on(cell.fill, name);
    }
}

GridView head_grid(const AppState& state, HeadPlace place, const std::string& letter) {
    const HeadsResult& result = *state.heads.result;
    const auto values = result.weights(place);
    const HeadFacts& facts = *result.find(place);
    GridView grid =
        grid_of(state, values, {ColorScale::unit, false, masked_of(result.allowed(place), values)},
                letter + head_name(place));
    grid.tooltip = "weight of the key for the query: softmax over keys of the masked scores";
    if (facts.label) grid.tooltip += fmt::format("\n{}", label_title(facts));
    if (state.heads.own_range && facts.largest > 0.0F)
        end_colors_at(grid, facts.largest, state.theme);
    return grid;
}

SideVector divergence_column(MatrixView<const float> a, MatrixView<const float> b) {
    SideVector column{"KL",
                      "KL(A‖B) = Σ_j A ln(A / B) of each row, in nats; ∞ where B is 0 at a key "
                      "where A is not",
                      {},
                      Role::score};
    for (Index i = 0; i < a.rows; ++i) column.cells.push_back(divergence_text(a, b, i));
    return column;
}

GridView difference_grid(const AppState& state, HeadPlace first, HeadPlace second) {
    const HeadsResult& result = *state.heads.result;
    const auto a = result.weights(first);
    const auto b = result.weights(second);
    std::vector<float> values;
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) values.push_back(a(i, j) - b(i, j));
    const MatrixView<const float> change{values.data(), a.rows, a.columns, a.columns};
    IsMasked masked = masked_of(result.allowed(first), change);
    const auto& other = result.allowed(second);
    for (std::size_t n = 0; n < masked.size(); ++n)
        if (other.empty() || other[n] != 0) masked[n] = 0;
    GridView grid =
        grid_of(state, change, {ColorScale::diverging, false, std::move(masked)}, "A − B");
    grid.role = Role::score;
    grid.tooltip = "weight in A less weight in B";
    grid.sides = {divergence_column(a, b)};
    return grid;
}

}  // namespace

std::string divergence_text(MatrixView<const float> a, MatrixView<const float> b, Index row) {
    if (std::ranges::all_of(a.row(row), [](float weight) { return weight == 0.0F; })) return "–";
    return cell_number(row_divergence(a.row(row), b.row(row)), 2);
}

std::vector<GridView> heads_grids(const AppState& state) {
    const HeadsLook& look = state.heads;
    const HeadsResult& result = *look.result;
    const auto& [first, second] = look.pinned;
    if (!first || !second || !result.find(*first) || !result.find(*second)) {
        if (!result.find(head_here(state))) return {};
        return {head_grid(state, head_here(state), "")};
    }
    std::vector<GridView> grids{head_grid(state, *first, "A: "), head_grid(state, *second, "B: ")};
    const auto a = result.weights(*first);
    const auto b = result.weights(*second);
    if (a.rows == b.rows && a.columns == b.columns)
        grids.push_back(difference_grid(state, *first, *second));
    return grids;
}

}  // namespace attn::view
