#include <algorithm>

#include "app/common/format.h"
#include "app/workspaces/masks/view_parts.h"

namespace attn::view {
namespace {

constexpr double kFaint = 0.16;    // how far an allowed pair of the mask stands out
constexpr double kPainted = 0.22;  // how far one that is painted is tinted

/// The pointed row and column, else the selected ones, have their numbers at any size.
void focus_pair(const AppState& state, GridView& grid) {
    const Pair pair = masks_look(state).hovered.value_or(masks_look(state).pair);
    grid.focus_row = pair.query;
    grid.focus_column = pair.key;
}

}  // namespace

GridView pair_grid(const AppState& state, const PairValues& pairs) {
    const Document& document = state.document();
    Sheet sheet;
    sheet.id = Stage::weights;
    sheet.values = pairs.values;
    sheet.row_labels = axis_labels(document, Axis::query, document.size.tq);
    sheet.column_labels = axis_labels(document, Axis::key, document.size.tk);
    sheet.role = pairs.role;
    GridView grid = make_grid(state, sheet, {pairs.colors, false, pairs.hidden});
    grid.title = pairs.title;
    grid.tooltip = pairs.tooltip;
    const Pair& pair = masks_look(state).pair;
    grid.selected = {pair.query, pair.key};
    focus_pair(state, grid);
    return grid;
}

GridView mask_grid_of(const AppState& state, std::span<const std::uint8_t> allowed,
                      std::span<const std::uint8_t> painted) {
    const Document& document = state.document();
    const std::vector<float> values(allowed.begin(), allowed.end());
    const Index keys = document.size.tk;
    GridView grid =
        pair_grid(state, {"mask",
                          "1: the query may attend to the key; 0: forbidden, its score becomes −∞",
                          Role::weight,
                          ColorScale::unit,
                          {values.data(), document.size.tq, keys, keys},
                          forbidden_of(allowed)});
    const Theme& colors = theme(state.theme);
    const Color open = blend(colors.background, colors.role(grid.role), kFaint);
    for (std::size_t n = 0; n < grid.cells.size(); ++n) {
        grid.cells[n].fill = allowed[n] == 0 ? colors.masked : open;
        if (!painted.empty() && painted[n] != 0)
            grid.cells[n].fill = blend(colors.masked, colors.accent, kPainted);
        grid.cells[n].ink = allowed[n] == 0 ? colors.muted : colors.text;
    }
    grid.ticks.clear();
    grid.legend = {"1  may attend",
                   painted.empty() ? "0  forbidden" : "0  forbidden, tinted: painted"};
    return grid;
}

SideVector sums_of(MatrixView<const float> values, Role role) {
    SideVector sums{"Σ", "Σ_j A[i,j], the sum of the row", {}, role};
    for (Index i = 0; i < values.rows; ++i) {
        double sum = 0.0;
        for (const float weight : values.row(i)) sum += weight;
        sums.cells.push_back(cell_number(sum, 2));
    }
    return sums;
}

std::vector<std::uint8_t> forbidden_of(std::span<const std::uint8_t> allowed) {
    std::vector<std::uint8_t> forbidden(allowed.size());
    std::ranges::transform(allowed, forbidden.begin(),
                           [](std::uint8_t each) { return std::uint8_t{each == 0}; });
    return forbidden;
}

}  // namespace attn::view
