// Where the camera of the Map workspace stands.

#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/map/ruler.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// The cell coordinates under a pixel do not differ by more than a hundredth of a pixel.
void check_under(const MapLook& look, double x, double y, double row, double column) {
    const double slack = 0.01 * cells_per_pixel(look);
    CHECK(std::abs(row_at(look, y) - row) <= slack);
    CHECK(std::abs(column_at(look, x) - column) <= slack);
}

void look_at(MapLook& look, const MapCamera& camera) {
    look.camera = camera;
    look.fitted = false;
}

}  // namespace

TEST_CASE("the whole matrix is in view at first, after Home and after moving out, in any window") {
    const AppState state = planted_state();
    CHECK(map_look(state).fitted);
    CHECK(cells_per_pixel(map_look(state)) == 1024.0 / 800.0);
    CHECK(y_of(map_look(state), 0.0) == 0.0);
    CHECK(y_of(map_look(state), 1024.0) == 800.0);
    CHECK(x_of(map_look(state), 512.0) == 500.0);
    const AppState moved = panned_by(zoomed_by(state, 8.0), 300.0, -160.0);
    CHECK_FALSE(map_look(moved).fitted);
    CHECK_FALSE(shown_camera(map_look(moved)) == shown_camera(map_look(state)));
    const AppState home = after(moved, {FitMap{}});
    CHECK(shown_camera(map_look(home)) == shown_camera(map_look(state)));
    CHECK(cells_per_pixel(map_look(after(home, {SetMapCanvas{{400.0, 300.0}}}))) == 1024.0 / 300.0);
    const AppState scaled = after(home, {SetMapCanvas{{400.0, 300.0, 2.0}}});
    CHECK(cells_per_pixel(map_look(scaled)) == 1024.0 / 300.0);
    CHECK(shown_camera(map_look(scaled)).cells_per_unit == 2.0 * 1024.0 / 300.0);
    const AppState out = zoomed_by(zoomed_by(state, 2.0), 0.25);
    CHECK(map_look(out).fitted);
    CHECK(cells_per_pixel(map_look(after(out, {SetMapCanvas{{400.0, 300.0}}}))) == 1024.0 / 300.0);
    CHECK(map_look(panned_by(state, 100.0, 100.0)).fitted);  // nothing to move
}

TEST_CASE("zooming about a pixel keeps the cell under it, in and out") {
    AppState state = planted_state();
    for (const auto& [x, y] : {std::pair{137.0, 20.0}, {500.0, 400.0}, {899.0, 790.0}}) {
        MapLook look = map_look(state);
        const double row = row_at(look, y);
        const double column = column_at(look, x);
        for (int notch = 0; notch < 60; ++notch) {
            look_at(look, zoomed_about(look, x, y, 1.2));
            check_under(look, x, y, row, column);
        }
        CHECK(1.0 / cells_per_pixel(look) == doctest::Approx(kLargestCell));
        for (int notch = 0; notch < 20; ++notch) {
            look_at(look, zoomed_about(look, x, y, 1.0 / 1.2));
            check_under(look, x, y, row, column);
        }
        for (int notch = 0; notch < 80; ++notch) look_at(look, zoomed_about(look, x, y, 1.0 / 1.2));
        CHECK(shown_camera(look) == fitted_camera(look));
    }
}

TEST_CASE("few rows or few columns are no hairline, and a zoom keeps the cell under the pointer") {
    for (const bool wide : {true, false}) {
        MapLook look;
        look.size = wide ? MapSize{12, 1500} : MapSize{1500, 12};
        look.canvas = {900.0, 600.0, 1.0};
        CHECK((wide ? rows_per_pixel(look) : columns_per_pixel(look)) == 1.0 / 16.0);
        CHECK((wide ? columns_per_pixel(look) : rows_per_pixel(look)) == cells_per_pixel(look));
        CHECK((wide ? y_of(look, 12.0) - y_of(look, 0.0) : x_of(look, 12.0) - x_of(look, 0.0)) ==
              doctest::Approx(12.0 * 16.0));
        const double row = row_at(look, 290.0), column = column_at(look, 440.0);
        for (int notch = 0; notch < 60; ++notch) {
            look_at(look, zoomed_about(look, 440.0, 290.0, 1.2));
            check_under(look, 440.0, 290.0, row, column);
        }
        CHECK(rows_per_pixel(look) == columns_per_pixel(look));
        MapLook tiles = look;  // whose texels are square
        tiles.own_shown = true;
        tiles.fitted = true;
        CHECK(rows_per_pixel(tiles) == columns_per_pixel(tiles));
    }
    MapLook square;
    square.size = {65, 70};
    square.canvas = {900.0, 600.0, 1.0};
    CHECK(rows_per_pixel(square) == columns_per_pixel(square));
}

TEST_CASE("the matrix cannot be lost, whatever the camera is told") {
    const AppState state = planted_state();
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    for (const MapCamera& camera :
         {MapCamera{-1e9, 1e9, 0.5}, MapCamera{kNan, 0.0, 1.0}, MapCamera{0.0, 0.0, 0.0},
          MapCamera{0.0, 0.0, -1.0}, MapCamera{5.0, 5.0, 1e300}, MapCamera{1e300, 5.0, 1e-300}}) {
        const MapLook look = map_look(after(state, {SetMapCamera{camera}}));
        const MapCamera shown = shown_camera(look);
        CHECK(shown.row >= 0.0);
        CHECK(shown.row <= 1024.0);
        CHECK(shown.column >= 0.0);
        CHECK(shown.column <= 1024.0);
        CHECK(shown.cells_per_unit >= 1.0 / kLargestCell);
        CHECK(shown.cells_per_unit <= 1024.0 / 800.0);
        const bool camera_at_all = camera.cells_per_unit > 0.0 && !std::isnan(camera.row);
        CHECK(look.camera == (camera_at_all ? camera : map_look(state).camera));
        CHECK(look.fitted == !camera_at_all);
    }
}

TEST_CASE("a texel is at least one pixel and less than two, up to the coarsest level") {
    AppState state = planted_state();
    for (double factor = 1.0; factor < 80.0; factor *= 1.13) {
        const MapLook look = map_look(zoomed_by(state, factor));
        const double texel =
            static_cast<double>(Index{1} << tile_level(look)) / cells_per_pixel(look);
        CHECK(texel >= 1.0 - 1e-5);
        if (tile_level(look) > 0) CHECK(texel < 2.0);
    }
    CHECK(tile_level(map_look(after(state, {SetMapCanvas{{8.0, 8.0}}}))) == 2);
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
    CHECK(map_look(gone).selected == large::Cell{1000, 3});
    CHECK(1.0 / cells_per_pixel(map_look(gone)) >= kFigureCell);
    CHECK(cell_at(map_look(gone), 500.0, 400.0) == large::Cell{1000, 3});
    const AppState refused = after(state, {GoToCell{{1024, 0}}});
    CHECK_FALSE(map_look(refused).selected);
    CHECK(has(refused.message.text, "1,024 × 1,024"));
    CHECK(refused.message.severity == Severity::warning);
    CHECK(map_look(refused).camera == map_look(state).camera);
    CHECK(map_look(refused).fitted);
    const AppState needle = after(state, {GoToNeedle{}});
    CHECK(map_look(needle).selected == map_look(state).input->needle);
    CHECK(map_look(needle).selected == state.document().landmarks->needle);
}

TEST_CASE("before the map is there one can go to what the document has, and nowhere else") {
    const AppState state = opened_state();
    const auto needle = state.document().landmarks->needle;
    REQUIRE(needle);
    const auto mapped = [&](const Actions& actions) {
        return with_map_input(after(state, actions));
    };
    CHECK(map_look(mapped({GoToNeedle{}})).selected == needle);
    CHECK(map_look(mapped({GoToNeedle{}})).input->needle == needle);
    CHECK(cell_at(map_look(mapped({GoToCell{{9, 8}}})), 500.0, 400.0) == large::Cell{9, 8});
    const AppState outside = after(state, {GoToCell{{5000, 1}}});
    CHECK_FALSE(map_look(outside).selected);
    CHECK(outside.message.severity == Severity::warning);
    CHECK(shown_camera(map_look(mapped({SetMapCamera{{1e9, 5.0, 1.0}}}))).row == 1024.0);
    const AppState none = after(empty_state(), {SetWorkspace{"large"}});
    CHECK(map_look(none).size == MapSize{});
    const AppState opening = after(initial_state(), {OpenPlanted{{.tokens = 1024}}});
    CHECK(map_look(opening).size == MapSize{4, 4});  // of the sentence, until the matrix is there
    for (const AppState& without : {none, opening})
        for (const Action& action :
             {Action{GoToCell{{9, 8}}}, Action{GoToNeedle{}}, Action{SelectMapCell{{9, 8}}}}) {
            const AppState refused = after(without, {action});
            CHECK_FALSE(map_look(refused).selected);
            CHECK(map_look(refused).fitted);
            CHECK(refused.message.severity == Severity::warning);
        }
    const AppState moved = after(opening, {SetMapCamera{{3.0, 2.0, 0.1}}});
    const auto opened =
        std::make_shared<const Opened>(Opened{planted_document({.tokens = 1024}), nullptr, {}});
    const AppState there = after(moved, {DocumentReady{"", "", opened}});
    CHECK(map_look(there).fitted);  // where the last one was looked at means nothing for this one
    CHECK(map_look(there).size == MapSize{1024, 1024});
    CHECK_FALSE(map_look(there).selected);
}

TEST_CASE("rulers: round numbers from afar, words of tokens close by, documents as strong marks") {
    const AppState state = planted_state();
    const auto far = column_ruler(map_look(state));
    CHECK(one_of(far, "200", &RulerMark::label).at ==
          doctest::Approx(x_of(map_look(state), 200.5)));
    CHECK(one_of(row_ruler(map_look(state)), "200", &RulerMark::label).at ==
          doctest::Approx(y_of(map_look(state), 200.5)));
    CHECK(std::ranges::any_of(far, [](const RulerMark& mark) { return mark.strong; }));
    for (const RulerMark& mark : far) {
        CHECK(mark.at >= 0.0);
        CHECK(mark.at <= 1000.0);
    }
    const AppState close = after(state, {GoToCell{{512, 515}}});
    const auto near = column_ruler(map_look(close));
    CHECK(one_of(near, "510", &RulerMark::label).at == doctest::Approx(500.0 - 5 * 48.0));
    CHECK(std::ranges::any_of(near, [](const RulerMark& mark) {
        return mark.label.find_first_not_of("0123456789,") != std::string::npos && !mark.strong;
    }));
    // A document that begins with the last column in view has its mark.
    const Index starts[] = {0, 100, 101};
    const AppState edge = after(state, {SetMapCamera{{400.0, 50.5, 0.1}}});
    std::vector<double> strong;
    for (const RulerMark& mark :
         ruler(map_look(edge), true,
               {.cells = 1024, .word = [](Index) { return std::string(); }, .starts = starts}))
        if (mark.strong) strong.push_back(mark.at);
    REQUIRE(strong.size() == 1);
    CHECK(strong[0] == doctest::Approx(995.0));
    CHECK(round_step(0.0) == 1);
    CHECK(round_step(1.5) == 2);
    CHECK(round_step(2001.0) == 5000);
}

TEST_CASE("a cell gone to before there is a window is readable at the window's scale") {
    AppState early = planted_state();
    map_look(early).canvas = {};
    const AppState gone = after(std::move(early), {GoToCell{{500, 3}}});
    const MapCanvas window{600.0, 400.0, 1.5};
    const AppState shown = after(gone, {SetMapCanvas{window}});
    CHECK(map_look(shown).camera == map_look(gone).camera);
    CHECK(cells_per_pixel(map_look(shown)) ==
          doctest::Approx(cells_per_pixel(map_look(gone)) / 1.5));
    CHECK(1.0 / cells_per_pixel(map_look(shown)) >= 1.5 * kFigureCell);
    CHECK(cell_at(map_look(shown), 300.0, 200.0) == large::Cell{500, 3});
    const AppState zoomed = after(zoomed_by(gone, 0.5), {SetMapCanvas{window}});
    CHECK(map_look(zoomed).camera.cells_per_unit ==
          doctest::Approx(map_look(gone).camera.cells_per_unit * 2.0));
    CHECK(cells_per_pixel(map_look(zoomed)) ==
          doctest::Approx(cells_per_pixel(map_look(gone)) * 2.0 / 1.5));
}

TEST_CASE("with a clock the camera flies to a cell and ends where it goes to at once without one") {
    const AppState still = after(planted_state(), {GoToNeedle{}});
    const MapCamera end = shown_camera(map_look(still));
    AppState state = after(planted_state(), {Tick{0.0}});
    const MapCamera start = shown_camera(map_look(state));
    state = after(state, {GoToNeedle{}});
    CHECK(shown_camera(map_look(state)) == start);
    double scale = start.cells_per_unit;
    const large::Cell needle = *state.document().landmarks->needle;
    int frames = 0;
    for (; map_look(state).flight && frames < 1000; ++frames) {
        const MapLook& look = map_look(state);
        CHECK(shown_camera(look).cells_per_unit <= scale + 1e-9);
        scale = shown_camera(look).cells_per_unit;
        const MapCanvas canvas = canvas_of(look);
        const double x = x_of(look, static_cast<double>(needle.column) + 0.5);
        const double y = y_of(look, static_cast<double>(needle.row) + 0.5);
        CHECK((x >= 0.0 && x <= canvas.width && y >= 0.0 && y <= canvas.height));
        view::apply(state, Tick{0.05});
    }
    CHECK((frames == 100 || frames == 101));  // 5 s, by what 0.05 adds up to
    CHECK(shown_camera(map_look(state)) == end);
    // A hand on the map ends it, and so does reduced motion.
    state = after(planted_state(), {Tick{0.0}, GoToNeedle{}, Tick{1.0}, FitMap{}});
    CHECK_FALSE(map_look(state).flight);
    state = after(planted_state(), {Tick{0.0}, SetReducedMotion{true}, GoToNeedle{}});
    CHECK(shown_camera(map_look(state)) == end);
}
