#include "app/workspaces/heads/grids.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/workspaces/heads/words.h"

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
    const HeadsLook& look = heads_look(state);
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

void fill_cell(CellView& cell, bool clipped, const ColorRange& range, ThemeName name) {
    if (cell.look != CellLook::number) return;
    cell.fill = clipped ? clipped_color(name) : color_of(range, cell.value, name);
    cell.ink = ink_on(cell.fill, name);
}

void label_bar(GridView& grid) {
    const ColorRange& range = grid.range;
    grid.low_label = range.curve == ColorCurve::log && range.scale == ColorScale::unit
                         ? fmt::format("≤ {}", tick(range.high * kLogFloor))
                         : tick(range.low);
    grid.high_label = tick(range.high);
    grid.ticks.clear();
    const auto add = [&](double value) {
        grid.ticks.push_back({position_of(range, value), tick(value)});
    };
    if (range.scale == ColorScale::diverging) return add(0.0);
    for (const double share : {0.1, 0.5, 0.01}) add(share * range.high);
}

}  // namespace

void color_grid(GridView& grid, const HeadColors& colors, ThemeName name) {
    grid.range = colors.range;
    label_bar(grid);
    for (Index row = 0; row < grid.rows; ++row)
        for (Index column = 0; column < grid.columns; ++column)
            fill_cell(grid.cells[static_cast<std::size_t>(row * grid.columns + column)],
                      colors.is_clipped(column), grid.range, name);
}

namespace {

GridView head_grid(const AppState& state, HeadPlace place, const std::string& letter) {
    const HeadsLook& look = heads_look(state);
    const HeadsResult& result = *look.result;
    const HeadShowInfo& what = info(look.show);
    const HeadMatrix matrix = head_matrix(result, look.show, place);
    GridView grid = grid_of(state, matrix.values,
                            {what.has_sign ? ColorScale::diverging : ColorScale::unit, false,
                             masked_of(matrix.allowed, matrix.values)},
                            letter + shown_name(look.show, place));
    grid.tooltip = look.show == HeadShow::weights
                       ? "weight of the key for the query: softmax over keys of the masked scores"
                       : std::string(what.formula);
    if (const HeadFacts& facts = *result.find(place); facts.label && !what.of_layer)
        grid.tooltip += fmt::format("\n{}", label_title(facts));
    color_grid(grid, head_colors(look, place), state.theme);
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
    const HeadsLook& look = heads_look(state);
    const HeadMatrix one = head_matrix(*look.result, look.show, first);
    const HeadMatrix two = head_matrix(*look.result, look.show, second);
    const auto& a = one.values;
    const auto& b = two.values;
    std::vector<float> values;
    for (Index i = 0; i < a.rows; ++i)
        for (Index j = 0; j < a.columns; ++j) values.push_back(a(i, j) - b(i, j));
    const MatrixView<const float> change{values.data(), a.rows, a.columns, a.columns};
    IsMasked masked = masked_of(one.allowed, change);
    for (std::size_t n = 0; n < masked.size(); ++n)
        if (two.allowed.empty() || two.allowed[n] != 0) masked[n] = 0;
    GridView grid =
        grid_of(state, change, {ColorScale::diverging, false, std::move(masked)}, "A − B");
    grid.role = Role::score;
    grid.tooltip =
        fmt::format("{} in A less {} in B", info(look.show).title, info(look.show).title);
    if (look.show == HeadShow::weights) grid.sides = {divergence_column(a, b)};
    return grid;
}

/// Of two that are pinned and known.
bool are_two(const AppState& state) {
    const auto& [first, second] = heads_look(state).pinned;
    const HeadsResult& result = *heads_look(state).result;
    return first && second && result.find(*first) != nullptr && result.find(*second) != nullptr;
}

}  // namespace

std::string divergence_text(MatrixView<const float> a, MatrixView<const float> b, Index row) {
    if (std::ranges::all_of(a.row(row), [](float weight) { return weight == 0.0F; })) return "–";
    return cell_number(row_divergence(a.row(row), b.row(row)), 2);
}

std::vector<HeadPlace> large_heads(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    if (are_two(state)) return {*look.pinned[0], *look.pinned[1]};
    if (look.result->find(head_here(state)) == nullptr) return {};
    return {head_here(state)};
}

std::string undefined_words(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    for (const HeadPlace place : large_heads(state))
        if (const HeadMatrix matrix = head_matrix(*look.result, look.show, place);
            !matrix.lacks.empty())
            return fmt::format("{} is not defined for {}: {}.", info(look.show).title,
                               head_name(place), matrix.lacks);
    return {};
}

std::vector<GridView> heads_grids(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const std::vector<HeadPlace> places = large_heads(state);
    if (places.size() < 2) {
        std::vector<GridView> one;
        for (const HeadPlace place : places) one.push_back(head_grid(state, place, ""));
        return one;
    }
    std::vector<GridView> grids{head_grid(state, places[0], "A: "),
                                head_grid(state, places[1], "B: ")};
    const auto a = look.result->weights(places[0]);
    const auto b = look.result->weights(places[1]);
    if (a.rows == b.rows && a.columns == b.columns)
        grids.push_back(difference_grid(state, places[0], places[1]));
    return grids;
}

}  // namespace attn::view
