// Step's map under hands: more than 64 tokens.

#include "app/common/map/camera.h"
#include "tests/ui/app.h"
#include "tests/view/waves.h"

using namespace attn;
using attn::test::App, view::map_look, view::step_look;

namespace {

const ImVec2 kOnMap{620.0F, 560.0F};

/// The window at the weights of so many tokens, its map settled.
struct MapApp : App {
    explicit MapApp(Index tokens, ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        state = view::after(view::state_with(tokens),
                            {view::SetWorkspace{"step"}, view::GoToStage{Stage::weights}});
        ui.frames(2);
        draw_frames();
    }
    void draw_frames() {
        state = view::mapped(std::move(state));
        ui.frames(2);
    }
    double cell_px() const { return 1.0 / view::cells_per_pixel(map_look(state)); }
};

}  // namespace

TEST_CASE("the map fills Step's canvas at every size, and draws while it is computed") {
    for (const ImVec2 size : {ImVec2{1600, 1000}, ImVec2{1280, 720}, ImVec2{640, 400}}) {
        App app(size);
        app.state = view::after(view::state_with(300), {view::SetWorkspace{"step"}});
        app.ui.frames(2);
        CHECK(app.ui.drawn() > 200);
        const MapApp map(300, size);
        CHECK(map_look(map.state).canvas.width > 0.4 * size.x);
        CHECK(map.ui.drawn() > 500);
    }
}

TEST_CASE("the wheel zooms, dragging pans, a click selects: 300 tokens") {
    MapApp app(300);
    app.ui.move_to(kOnMap);
    REQUIRE(map_look(app.state).hovered);
    const double before = app.cell_px();
    for (int n = 0; n < 16; ++n) app.ui.wheel(1.0F);
    CHECK(app.cell_px() > 10.0 * before);
    const view::MapCamera still = view::shown_camera(map_look(app.state));
    app.ui.drag(kOnMap, {kOnMap.x + 80.0F, kOnMap.y + 40.0F});
    CHECK(view::shown_camera(map_look(app.state)).column < still.column);
    app.draw_frames();
    app.ui.click(kOnMap);
    REQUIRE(map_look(app.state).hovered);
    CHECK(map_look(app.state).selected == map_look(app.state).hovered);
    CHECK_FALSE(app.state.selected);
}

TEST_CASE("where Step has the numbers a click on the map selects Step's cell: 100 tokens") {
    MapApp app(100);
    app.ui.click(kOnMap);
    REQUIRE(map_look(app.state).hovered);
    const large::Cell cell = *map_look(app.state).hovered;
    CHECK(app.state.selected == view::CellRef{Stage::weights, cell.row, cell.column});
    CHECK(app.state.hovered == app.state.selected);
    CHECK(map_look(app.state).selected == cell);
    app.ui.move_to({5.0F, 990.0F});
    app.ui.frames(2);
    CHECK_FALSE(app.state.hovered);
}

TEST_CASE("the keys + and F zoom Step's map, and do nothing where there is none") {
    MapApp app(300);
    const double whole = app.cell_px();
    app.ui.press(view::Key::plus);
    CHECK(app.cell_px() == doctest::Approx(2.0 * whole));
    app.ui.press(view::Key::f);
    CHECK(app.cell_px() == doctest::Approx(whole));
    App small;
    const view::MapCamera camera = map_look(small.state).camera;
    CHECK(map_look(small.pressed(view::Key::plus)).camera == camera);
}
