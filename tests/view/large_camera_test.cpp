// Where the camera of the Large workspace stands.
#include <doctest/doctest.h>

#include "app/view/large/camera.h"
#include "app/view/large/ruler.h"
#include "tests/view/large_sample.h"

using namespace attn;
using namespace attn::view;

namespace {

/// The cell coordinates under a pixel do not differ by more than a hundredth of a pixel.
void check_under(const LargeLook& look, double x, double y, double row, double column) {
    const double slack = 0.01 * look.camera.cells_per_pixel;
    CHECK(std::abs(row_at(look, y) - row) <= slack);
    CHECK(std::abs(column_at(look, x) - column) <= slack);
}

}  // namespace

TEST_CASE("the whole matrix is in view at first and after Home") {
    const AppState state = planted_state();
    CHECK(state.large.fitted);
    CHECK(state.large.camera.cells_per_pixel == 1024.0 / 800.0);
    CHECK(y_of(state.large, 0.0) == 0.0);
    CHECK(y_of(state.large, 1024.0) == 800.0);
    CHECK(x_of(state.large, 512.0) == 500.0);
    const AppState home = after(state, {ZoomMap{8.0}, PanMap{0.3, -0.2}, FitMap{}});
    CHECK(home.large.camera == state.large.camera);
    const AppState resized = after(home, {SetMapCanvas{{400.0, 300.0}}});
    CHECK(resized.large.camera.cells_per_pixel == 1024.0 / 300.0);
}

TEST_CASE("zooming about a pixel keeps the cell under it, in and out") {
    AppState state = planted_state();
    for (const auto& [x, y] : {std::pair{137.0, 20.0}, {500.0, 400.0}, {899.0, 790.0}}) {
        LargeLook look = state.large;
        const double row = row_at(look, y);
        const double column = column_at(look, x);
        for (int notch = 0; notch < 60; ++notch) {
            look.camera = zoomed_about(look, x, y, 1.2);
            check_under(look, x, y, row, column);
        }
        CHECK(1.0 / look.camera.cells_per_pixel == doctest::Approx(kLargestCell));
        for (int notch = 0; notch < 20; ++notch) {
            look.camera = zoomed_about(look, x, y, 1.0 / 1.2);
            check_under(look, x, y, row, column);
        }
        for (int notch = 0; notch < 80; ++notch) look.camera = zoomed_about(look, x, y, 1.0 / 1.2);
        CHECK(look.camera == fitted_camera(look));
    }
}

TEST_CASE("the matrix cannot be lost, whatever the camera is told") {
    const AppState state = planted_state();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const MapCamera& camera :
         {MapCamera{-1e9, 1e9, 0.5}, MapCamera{kNan, 0.0, 1.0}, MapCamera{0.0, 0.0, 0.0},
          MapCamera{0.0, 0.0, -1.0}, MapCamera{5.0, 5.0, 1e300}, MapCamera{1e300, 5.0, 1e-300}}) {
        const LargeLook look = after(state, {SetMapCamera{camera}}).large;
        CHECK(look.camera.row >= 0.0);
        CHECK(look.camera.row <= 1024.0);
        CHECK(look.camera.column >= 0.0);
        CHECK(look.camera.column <= 1024.0);
        CHECK(look.camera.cells_per_pixel >= 1.0 / kLargestCell);
        CHECK(look.camera.cells_per_pixel <= 1024.0 / 800.0);
    }
}

TEST_CASE("a texel is at least one pixel and less than two, up to the coarsest level") {
    AppState state = planted_state();
    for (double factor = 1.0; factor < 80.0; factor *= 1.13) {
        const LargeLook look = after(state, {ZoomMap{factor}}).large;
        const double texel =
            static_cast<double>(Index{1} << tile_level(look)) / look.camera.cells_per_pixel;
        CHECK(texel >= 1.0 - 1e-5);
        if (tile_level(look) > 0) CHECK(texel < 2.0);
    }
    CHECK(tile_level(after(state, {SetMapCanvas{{8.0, 8.0}}}).large) == 2);
}

TEST_CASE("a text names a cell with commas, spaces or an arrow") {
    const auto is = [](std::string_view text, Index row, Index column) {
        CAPTURE(std::string(text));
        const auto cell = parse_map_cell(text);
        REQUIRE(cell);
        CHECK(*cell == large::Cell{row, column});
    };
    is("70001, 5", 70001, 5);
    is("70001,5", 70001, 5);
    is(" 70001 5 ", 70001, 5);
    is("70,001 → 5", 70001, 5);
    is("70,001, 1,005", 70001, 1005);
    is("7 , 8", 7, 8);
    is("12", 12, 12);
    for (const char* text : {"", "  ", "a", "1 2 3", "1,2,3", "-1, 2", "1.5, 2", "1e3", "1, x",
                             "99999999999999999999"})
        CHECK_FALSE(parse_map_cell(text));
}

TEST_CASE("going to a cell shows it large and selects it; a cell that is not there is refused") {
    const AppState state = planted_state();
    const AppState gone = after(state, {GoToCell{{1000, 3}}});
    CHECK(gone.large.selected == large::Cell{1000, 3});
    CHECK(1.0 / gone.large.camera.cells_per_pixel >= kFigureCell);
    CHECK(cell_at(gone.large, 500.0, 400.0) == large::Cell{1000, 3});
    const AppState refused = after(state, {GoToCell{{1024, 0}}});
    CHECK_FALSE(refused.large.selected);
    CHECK(refused.message.words.find("1,024 × 1,024") != std::string::npos);
    CHECK(refused.large.camera == state.large.camera);
    const AppState needle = after(state, {GoToNeedle{}});
    CHECK(needle.large.selected == state.large.input->needle);
}

TEST_CASE("what came before the matrix is done when it is there") {
    const large::PlantedSpec spec{.tokens = 1024};
    const auto input = std::make_shared<const large::MapInput>(large::plant(spec).value());
    const auto opened = [&](const Actions& actions) {
        AppState state = after(initial_state(), {OpenPlanted{spec}});
        state = after(std::move(state), actions);
        return after(std::move(state), {MapInputReady{spec, input, ""}});
    };
    CHECK(opened({GoToNeedle{}}).large.selected == input->needle);
    CHECK(cell_at(opened({GoToCell{{9, 8}}}).large, 500.0, 400.0) == large::Cell{9, 8});
    const AppState outside = opened({GoToCell{{5000, 1}}});
    CHECK_FALSE(outside.large.selected);
    CHECK(outside.message.severity == Severity::error);
    CHECK(opened({SetMapCamera{{1e9, 5.0, 1.0}}}).large.camera.row == 1024.0);
}

TEST_CASE("rulers: round numbers from afar, words of tokens close by, documents as strong marks") {
    const AppState state = planted_state();
    const auto far = column_ruler(state.large);
    CHECK(std::ranges::any_of(far, [](const RulerMark& mark) { return mark.label == "200"; }));
    CHECK(std::ranges::any_of(far, [](const RulerMark& mark) { return mark.strong; }));
    for (const RulerMark& mark : far) {
        CHECK(mark.at >= 0.0);
        CHECK(mark.at <= 1000.0);
    }
    const AppState close = after(state, {GoToCell{{512, 515}}});
    const auto near = column_ruler(close.large);
    const auto numbered = std::ranges::find(near, "510", &RulerMark::label);
    REQUIRE(numbered != near.end());
    CHECK(numbered->at == doctest::Approx(500.0 - 5 * 48.0));
    CHECK(std::ranges::any_of(near, [](const RulerMark& mark) {
        return mark.label.find_first_not_of("0123456789,") != std::string::npos && !mark.strong;
    }));
    CHECK(round_step(0.0) == 1);
    CHECK(round_step(1.5) == 2);
    CHECK(round_step(2001.0) == 5000);
}

TEST_CASE("a cell gone to before there is a window is readable at the window's scale") {
    AppState early = planted_state();
    early.large.canvas = {};
    const AppState gone = after(std::move(early), {GoToCell{{500, 3}}});
    const MapCanvas window{600.0, 400.0, 1.5};
    const AppState shown = after(gone, {SetMapCanvas{window}});
    CHECK(shown.large.camera.cells_per_pixel ==
          doctest::Approx(gone.large.camera.cells_per_pixel / 1.5));
    const AppState zoomed = after(gone, {ZoomMap{0.5}, SetMapCanvas{window}});
    CHECK(zoomed.large.camera.cells_per_pixel ==
          doctest::Approx(gone.large.camera.cells_per_pixel * 2.0));
}
