#include "app/workspaces/heads/grids.h"

#include <fmt/format.h>

#include "app/common/actions.h"
#include "app/common/document/heads.h"
#include "app/common/format.h"
#include "app/common/memo.h"
#include "app/common/number_style.h"
#include "app/common/pair_grid.h"
#include "app/common/state.h"
#include "app/workspaces/heads/shown.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/heads/view.h"
#include "core/scores/score.h"
#include "core/train/task_table.h"

namespace attn::view {
namespace {

constexpr std::string_view kDifferenceTitle = "A − B";

IsMasked masked_of(AllowedPairs allowed, MatrixView<const float> values) {
    IsMasked masked(allowed.size());
    for (std::size_t n = 0; n < allowed.size(); ++n) {
        const auto at = static_cast<Index>(n);
        const bool nan = std::isnan(values(at / values.columns, at % values.columns));
        masked[n] = allowed[n] == 0 && !nan ? 1 : 0;
    }
    return masked;
}

/// With the pair that is looked at.
GridView grid_of(const AppState& state, MatrixView<const float> values, const GridStyle& style,
                 std::string title) {
    GridView grid = pair_grid(state, values, style, std::move(title));
    look_at(grid, heads_look(state).pair, heads_look(state).hovered_pair);
    return grid;
}

void label_bar(GridView& grid) {
    const ColorRange& range = grid.range;
    grid.low_label = range.curve == ColorCurve::log && range.scale == ColorScale::unit
                         ? fmt::format("≤ {}", tick(range.high * kLogFloor))
                         : legend_tick(range.low);
    grid.high_label = legend_tick(range.high);
    grid.ticks.clear();
    const auto add = [&](double value) {
        grid.ticks.push_back({position_of(range, value), legend_tick(value)});
    };
    if (range.scale == ColorScale::diverging) return add(0.0);
    const bool weights = (range.curve == ColorCurve::usual || range.curve == ColorCurve::root) &&
                         grid.role == Role::weight;
    const double even = 1.0 / static_cast<double>(std::max<Index>(grid.columns, 1));
    if (weights && even < range.high && grid.columns > 1)
        grid.ticks.push_back({position_of(range, even), fmt::format("1/{}", grid.columns)});
    for (const double share : {0.1, 0.5, 0.01})
        if (const double value = weights ? share : share * range.high; value < range.high)
            add(value);
}

GridView head_grid(const AppState& state, HeadPlace place, const std::string& letter) {
    const HeadsLook& look = heads_look(state);
    const HeadsResult& result = *look.result;
    const HeadShowInfo& what = info(look.show);
    const HeadMatrix matrix = head_matrix(result, look.show, place);
    GridView grid = grid_of(state, matrix.values,
                            {what.has_sign ? ColorScale::diverging : ColorScale::unit, false,
                             masked_of(matrix.allowed, matrix.values)},
                            letter + shown_name(look.show, place));
    if (look.show == HeadShow::weights) grid.role = Role::weight;
    grid.tooltip = look.show == HeadShow::weights ? "weight of the key for the query"
                                                  : std::string(what.formula);
    if (const HeadFacts& facts = *result.find(place); facts.label && !what.of_layer)
        grid.tooltip += fmt::format("\n{}", label_title(facts));
    color_grid(grid, head_colors(look, place, color_look(state)), state.theme);
    return grid;
}

SideVector divergence_column(MatrixView<const float> a, MatrixView<const float> b) {
    SideVector column{
        "KL",
        "KL(A‖B) = Σ_j A ln(A / B) of each row, in nats; ∞ where B is 0 at a key where A is not",
        {},
        Role::score};
    for (Index i = 0; i < a.rows; ++i) column.cells.push_back(divergence_text(a, b, i));
    return column;
}

/// A − B, masked where neither may attend.
struct HeadsDifference {
    std::vector<float> values;
    IsMasked masked;
    Index rows = 0, columns = 0;
    MatrixView<const float> view() const { return {values.data(), rows, columns, columns}; }
};
HeadsDifference difference_of(const HeadMatrix& one, const HeadMatrix& two) {
    const auto& a = one.values;
    HeadsDifference change{{}, {}, a.rows, a.columns};
    for (const auto [i, j] : each_cell(a)) change.values.push_back(a(i, j) - two.values(i, j));
    change.masked = masked_of(one.allowed, change.view());
    for (std::size_t n = 0; n < change.masked.size(); ++n)
        if (two.allowed.empty() || two.allowed[n] != 0) change.masked[n] = 0;
    return change;
}

GridView difference_grid(const AppState& state, HeadPlace first, HeadPlace second) {
    const HeadsLook& look = heads_look(state);
    const HeadMatrix one = head_matrix(*look.result, look.show, first);
    const HeadMatrix two = head_matrix(*look.result, look.show, second);
    const HeadsDifference change = difference_of(one, two);
    GridView grid = grid_of(state, change.view(), {ColorScale::diverging, false, change.masked},
                            std::string(kDifferenceTitle));
    grid.role = Role::score;
    grid.tooltip =
        fmt::format("{} in A minus {} in B", info(look.show).title, info(look.show).title);
    if (look.show == HeadShow::weights) grid.sides = {divergence_column(one.values, two.values)};
    return grid;
}

// ---- as maps

MapCellsPtr head_map(const HeadsLook& look, HeadPlace place, const std::string& letter) {
    auto matrix = std::make_shared<HeadMatrix>(head_matrix(*look.result, look.show, place));
    HeadColors colors = head_colors(look, place, {});
    struct Both {  // what the numbers look at
        std::shared_ptr<const HeadsResult> result;
        std::shared_ptr<const HeadMatrix> matrix;
    };
    return make_cells(
        {.title = letter + shown_name(look.show, place),
         .noun = look.show == HeadShow::weights ? "weight" : std::string(info(look.show).title),
         .role = info(look.show).has_sign ? Role::score : Role::weight,
         .values = matrix->values,
         .owner = std::make_shared<const Both>(Both{look.result, matrix}),
         .masked = masked_of(matrix->allowed, matrix->values),
         .range = colors.range,
         .clipped = std::move(colors.clipped)});
}

MapCellsPtr difference_map(const HeadsLook& look, HeadPlace first, HeadPlace second) {
    HeadsDifference change = difference_of(head_matrix(*look.result, look.show, first),
                                           head_matrix(*look.result, look.show, second));
    const ColorRange range = signed_range(change.view());
    return make_cells({.title = std::string(kDifferenceTitle),
                       .noun = fmt::format("{} in A minus B", info(look.show).title),
                       .role = Role::score,
                       .masked = std::move(change.masked),
                       .range = range},
                      std::move(change.values), change.columns);
}

bool are_long(const HeadsResult& result, const std::vector<HeadPlace>& places) {
    return std::ranges::any_of(places, [&](HeadPlace place) {
        const auto weights = result.weights(place);
        return is_map_size(weights.rows, weights.columns);
    });
}

MapCellsSet cells_of(const AppState& state, const std::vector<HeadPlace>& places) {
    const HeadsLook& look = heads_look(state);
    if (!are_long(*look.result, places) || !undefined_text(state, places).empty()) return {};
    if (places.size() < 2) return {head_map(look, places.front(), "")};
    MapCellsSet set{head_map(look, places[0], "A: "), head_map(look, places[1], "B: ")};
    const auto &a = set[0]->values, &b = set[1]->values;
    if (a.rows == b.rows && a.columns == b.columns)
        set.push_back(difference_map(look, places[0], places[1]));
    return set;
}

MapCellsSet mean_cells(const AppState& state, const std::vector<HeadPlace>& places) {
    const HeadsLook& look = heads_look(state);
    if (!are_long(*look.result, places)) return {};
    MeanMatrix mean = mean_of_heads(state, places);
    if (!mean.missing_data.empty()) return {};
    const ColorRange range = mean_range(look, places, mean, {});
    return {make_cells({.title = together_text(state, places),
                        .noun = fmt::format("mean {}", info(look.show).title),
                        .role = info(look.show).has_sign ? Role::score : Role::weight,
                        .masked = std::move(mean.masked),
                        .range = range},
                       std::move(mean.values), mean.columns)};
}

}  // namespace

void color_grid(GridView& grid, const HeadColors& colors, ThemeName name) {
    grid.range = colors.range;
    label_bar(grid);
    for (std::size_t n = 0; n < grid.cells.size(); ++n) {
        CellView& cell = grid.cells[n];
        if (cell.look != CellLook::number) continue;
        const bool clipped = colors.is_clipped(static_cast<Index>(n) % grid.columns);
        cell.fill = clipped ? clipped_color(name) : color_of(grid.range, cell.value, name);
        cell.ink = ink_on(cell.fill, name);
    }
}

std::string divergence_text(MatrixView<const float> a, MatrixView<const float> b, Index row) {
    if (std::ranges::all_of(a.row(row), [](float weight) { return weight == 0.0F; })) return "–";
    return cell_number(row_divergence(a.row(row), b.row(row)), 2);
}

std::vector<HeadPlace> large_heads(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const auto is_known = [&](const std::optional<HeadPlace>& place) {
        return place && look.result->find(*place) != nullptr;
    };
    const auto& [a, b] = look.pinned;
    if (is_known(a) && is_known(b)) return {*a, *b};
    const HeadPlace here = head_here(state);
    return is_known(here) ? std::vector{here} : std::vector<HeadPlace>{};
}

std::string undefined_text(const AppState& state, const std::vector<HeadPlace>& places) {
    const HeadsLook& look = heads_look(state);
    for (const HeadPlace place : places)
        if (const std::string missing_data = head_missing_data(*look.result, look.show, place);
            !missing_data.empty())
            return fmt::format("{} is not defined for {}: {}.", info(look.show).title,
                               head_name(place), missing_data);
    return {};
}

std::vector<GridView> heads_grids(const AppState& state) {
    const HeadsLook& look = heads_look(state);
    const std::vector<HeadPlace> places = large_heads(state);
    const bool two = places.size() > 1;
    std::vector<GridView> grids;
    for (const HeadPlace place : places)
        grids.push_back(head_grid(state, place, !two ? "" : grids.empty() ? "A: " : "B: "));
    if (!two) return grids;
    const auto a = look.result->weights(places[0]);
    const auto b = look.result->weights(places[1]);
    if (a.rows == b.rows && a.columns == b.columns)
        grids.push_back(difference_grid(state, places[0], places[1]));
    return grids;
}

void follow_head_maps(AppState& state) {
    HeadsLook& look = heads_look(state);
    if (!look.shown || look.form != HeadForm::matrix) return look.maps.reset();
    const auto several = heads_together(state);
    const auto& places = several.empty() ? large_heads(state) : several;
    look.maps = found_once(
        look.maps, {look.shown, look.own_range, look.curve, places, !several.empty()},
        [&](HeadsMaps::Of of) {
            auto cells = of.together ? mean_cells(state, places) : cells_of(state, places);
            return HeadsMaps{std::move(of), std::move(cells)};
        });
}

}  // namespace attn::view
