// How the numbers of a grid become colours, and what its colour bar says.

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

bool has_color(const GridView& grid, Index row, double share) {
    const Color wanted = color_of({ColorScale::unit, 0.0, 1.0}, share, ThemeName::dark);
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
    CHECK(grid.low_label == "0");
    CHECK(grid.high_label == "1");
    CHECK(place_of(grid, ".01") == doctest::Approx(0.1));
    CHECK(place_of(grid, ".1") == doctest::Approx(std::sqrt(0.1)));
    CHECK(place_of(grid, ".5") == doctest::Approx(std::sqrt(0.5)));
    const std::string uniform = "1/" + std::to_string(grid.columns);
    CHECK(place_of(grid, uniform) ==
          doctest::Approx(std::sqrt(1.0 / static_cast<double>(grid.columns))));
    CHECK(grid.ticks.front().label == uniform);
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
        CHECK(!has_color(plain, row, 1.0));
        CHECK(has_color(plain, row, largest(plain, row)));
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
