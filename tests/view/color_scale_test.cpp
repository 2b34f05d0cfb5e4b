// How the numbers of a grid become colours, and what its colour bar says.

#include "app/common/color_look.h"
#include "app/common/format.h"
#include "app/common/number_style.h"
#include "app/workspaces/step/grids.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState at_weights(const Actions& actions = {}) {
    return after(after(initial_state(), {GoToStage{Stage::weights}}), actions);
}

/// -1 where no mark has that label.
double place_of(const GridView& grid, const std::string& label) {
    const auto found = std::ranges::find(grid.ticks, label, &BarTick::label);
    return found == grid.ticks.end() ? -1.0 : found->position;
}

bool has_color(const GridView& grid, Index row, double share, double high = 1.0) {
    const Color wanted = color_of({ColorScale::unit, 0.0, high}, share, ThemeName::dark);
    for (Index column = 0; column < grid.columns; ++column)
        if (grid.at(row, column).fill == wanted) return true;
    return false;
}

double largest(const GridView& grid, Index row) {
    double most = 0.0;
    for (Index column = 0; column < grid.columns; ++column)
        most = std::max(most, grid.at(row, column).value);
    return most;
}

}  // namespace

TEST_CASE("the bar of weights has its marks at the roots, 1/n among them") {
    const GridView grid = stage_grid(at_weights(), Stage::weights);
    double most = 0.0;
    for (Index row = 0; row < grid.rows; ++row) most = std::max(most, largest(grid, row));
    CHECK(grid.range.high == most);
    CHECK(most < 1.0);
    CHECK(grid.low_label == "0");
    CHECK(grid.high_label == legend_tick(most));
    CHECK(place_of(grid, ".01") == doctest::Approx(std::sqrt(0.01 / most)));
    CHECK(place_of(grid, ".1") == doctest::Approx(std::sqrt(0.1 / most)));
    const std::string uniform = "1/" + std::to_string(grid.columns);
    CHECK(place_of(grid, uniform) ==
          doctest::Approx(std::sqrt(1.0 / static_cast<double>(grid.columns) / most)));
    CHECK(grid.ticks.front().label == uniform);
}

TEST_CASE("a person may have the colours end at 1, and choose another colour map") {
    const GridView to_one = stage_grid(
        at_weights({SetWeightsToOne{true}, SetColorMap{ColorMap::grey}}), Stage::weights);
    CHECK(to_one.range.high == 1.0);
    CHECK(to_one.high_label == "1");
    CHECK(to_one.range.map == ColorMap::grey);
    CHECK(to_one.cells[0].fill == color_of(to_one.range, to_one.cells[0].value, ThemeName::dark));
    const GridView scores = stage_grid(at_weights({SetColorMap{ColorMap::grey}}), Stage::scores);
    CHECK(scores.cells[0].fill == stage_grid(at_weights(), Stage::scores).cells[0].fill);
    const AppState read =
        reopened(at_weights({SetWeightsToOne{true}, SetColorMap{ColorMap::cividis}}));
    CHECK(color_look(read) == ColorLook{ColorMap::cividis, true});
}

TEST_CASE("scaled scores keep the range of the raw ones: they pale as they shrink") {
    const AppState state = at_weights();
    const GridView raw = stage_grid(state, Stage::scores);
    const GridView scaled = stage_grid(state, Stage::scaled);
    CHECK(scaled.range.high == raw.range.high);
    CHECK(scaled.range.low == raw.range.low);
    CHECK(scaled.at(0, 0).value == doctest::Approx(raw.at(0, 0).value / 2.0));  // √4
    CHECK(scaled.at(0, 0).fill == color_of(raw.range, scaled.at(0, 0).value, ThemeName::dark));
}

TEST_CASE("adjacent matrices share the range of the larger one") {
    GridView a = stage_grid(at_weights(), Stage::weights);
    GridView b = stage_grid(at_weights({SetScaling{false}}), Stage::weights);
    REQUIRE(a.range.high < b.range.high);
    share_range({&a, &b}, ThemeName::dark);
    CHECK(a.range.high == b.range.high);
    CHECK(a.high_label == b.high_label);
    for (const CellView& cell : a.cells)
        CHECK(cell.fill == color_of(b.range, cell.value, ThemeName::dark));
}

TEST_CASE("scores have zero in the middle of the bar, no switch for rows, no colours by row") {
    const GridView grid = stage_grid(at_weights(), Stage::scores);
    CHECK(grid.ticks == std::vector<BarTick>{{0.5, "0"}});
    CHECK(!grid.rows_scaled);
    const GridView plain = stage_grid(at_weights(), Stage::scores);
    const GridView scaled = stage_grid(at_weights({ScaleRows{true}}), Stage::scores);
    for (std::size_t n = 0; n < plain.cells.size(); ++n)
        CHECK(plain.cells[n].fill == scaled.cells[n].fill);
}

TEST_CASE("by row the largest weight has the full colour, none that of 0, and the bar says so") {
    const GridView plain = stage_grid(at_weights(), Stage::weights);
    const GridView by_row = stage_grid(at_weights({ScaleRows{true}}), Stage::weights);
    CHECK(plain.rows_scaled == false);
    CHECK(by_row.rows_scaled == true);
    CHECK(has(by_row.high_label, "row's largest"));
    CHECK(place_of(by_row, "10 %") == doctest::Approx(std::sqrt(0.1)));
    for (Index row = 0; row < plain.rows; ++row) {
        REQUIRE(largest(plain, row) < 1.0);
        CHECK(has_color(by_row, row, 1.0));
        CHECK(has_color(plain, row, largest(plain, row), plain.range.high));
    }
    for (std::size_t n = 0; n < plain.cells.size(); ++n)
        CHECK(plain.cells[n].text == by_row.cells[n].text);
    for (const AppState& state : sample_states()) {
        if (!step_missing_data(state).empty()) continue;
        const GridView grid =
            stage_grid(after(state, {GoToStage{Stage::weights}, ScaleRows{true}}), Stage::weights);
        for (const CellView& cell : grid.cells)
            if (cell.look == CellLook::number && cell.value == 0.0)
                CHECK(cell.fill == color_of(grid.range, 0.0, ThemeName::dark));
    }
}

TEST_CASE("a session keeps how weights are coloured") {
    const AppState state = at_weights({ScaleRows{true}});
    CHECK(step_look(reopened(state)).rows_scaled);
}
