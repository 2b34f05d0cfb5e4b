#include "app/common/map/camera.h"
#include "app/common/map/draw/parts.h"
#include "app/common/map/map_cell.h"
#include "app/common/parts.h"
#include "app/workspaces/large/draw/panel.h"
#include "tests/ui/app.h"
#include "tests/ui/large_sample.h"
#include "tests/view/large_sample.h"

using namespace attn;
using namespace attn::test;
using large::Cell, view::map_look;

namespace {

constexpr Index kTokens = 131072;

template <class T>
bool has(const view::Actions& actions) {
    return last<T>(actions) != nullptr;
}

/// The map; beside it the side panel over the strongest cells. The look follows the hand, the view stands still.
struct LargeBench {
    view::MapLook look = sample_look(kTokens);
    view::LargeView view = sample_overview(look);
    NullUi ui;

    explicit LargeBench(ImVec2 size = {1600.0F, 1000.0F}, float scale = 1.0F) : ui(size, scale) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            draw(frame, out);
            for (const view::Action& action : out) follow(action);
        });
        ui.frames(3);
    }

    void draw(const ui::Frame& frame, view::Actions& out) {
        const ui::LargeScene scene{view, look, frame, out};
        const float width = ImGui::GetIO().DisplaySize.x;
        ImGui::BeginChild("map", {width * 0.7F, 0.0F});
        ui::draw_large_map(scene);
        ImGui::EndChild();
        ImGui::SameLine();
        ImGui::BeginGroup();
        ImGui::BeginChild("side", {0.0F, ImGui::GetIO().DisplaySize.y * 0.6F});
        ui::draw_large_side(scene);
        ImGui::EndChild();
        ImGui::BeginChild("cells");
        const ImVec2 low = ImGui::GetCursorScreenPos();
        ui::draw_large_cells(scene, {low, ImGui::GetIO().DisplaySize});
        ImGui::EndChild();
        ImGui::EndGroup();
    }

    double cells() const { return view::shown_camera(look).cells_per_unit; }

    void follow(const view::Action& action) {
        if (const auto* space = action.as<view::SetMapCanvas>()) look.canvas = space->value;
        if (const auto* moved = action.as<view::SetMapCamera>()) look_at(look, moved->camera);
        if (has<view::FitMap>({action})) look.fitted = true;
        if (const auto* over = action.as<view::HoverMapCell>()) look.hovered = over->cell;
    }
};

const ImVec2 kOnCanvas{500.0F, 480.0F};

/// Every action that clicks over the side panel bring about: rows of them, `apart` pixels from each other.
view::Actions clicks_over_side(LargeBench& bench, float apart) {
    return clicks_over(bench.ui, {1150.0F, 16.0F}, {1580.0F, 990.0F}, {apart, 11.0F});
}

}  // namespace

TEST_CASE("every state of the Map workspace draws at every size and scale") {
    for (const ImVec2 size : {ImVec2{1600, 1000}, ImVec2{1280, 720}, ImVec2{640, 400}})
        for (const float scale : {1.0F, 1.5F, 2.0F}) {
            INFO("size.x ", size.x, ", scale ", scale);
            LargeBench bench(size, scale);
            for (const view::LargeView& view :
                 {sample_empty_map(), sample_loading_map(), sample_faulty_map(),
                  sample_overview(bench.look), sample_close_up(bench.look),
                  with_long_words(sample_overview(bench.look)),
                  with_long_words(sample_close_up(bench.look)), view::LargeView{}}) {
                bench.view = view;
                bench.ui.frames(2);
                CHECK(bench.ui.drawn() > 8);
            }
        }
}

TEST_CASE("a new matrix, of which nothing is known yet, draws, and none does") {
    App app;
    app.set(view::opened_state());
    REQUIRE(app.state.workspace == "large");
    CHECK(app.ui.drawn() > 300);
    app.set(view::with_map_input(std::move(app.state)));
    REQUIRE_FALSE(map_look(app.state).snapshot);
    CHECK(app.ui.drawn() > 500);
    CHECK(map_look(app.state).canvas.width > 500.0);
    app.set(view::after(view::empty_state(), {view::SetWorkspace{"large"}}));
    CHECK(app.ui.drawn() > 300);
}

TEST_CASE("the canvas says its room once, and panning does not change it") {
    LargeBench bench;
    CHECK(bench.look.canvas.width > 600.0);
    CHECK(!has<view::SetMapCanvas>(bench.ui.frames(3)));
    bench.view = sample_close_up(bench.look);
    CHECK(!has<view::SetMapCanvas>(bench.ui.frames(3)));
}

TEST_CASE("the wheel zooms about the cell under the pointer, elsewhere it does not") {
    LargeBench bench;
    bench.ui.move_to(kOnCanvas);
    const auto before = bench.look.hovered;
    REQUIRE(before);
    const double cells = bench.cells();
    for (int n = 0; n < 24; ++n) bench.ui.wheel(1.0F);
    CHECK(bench.cells() < cells / 60.0);
    bench.ui.frames(2);
    REQUIRE(bench.look.hovered);
    CHECK(std::abs(bench.look.hovered->row - before->row) <= 190);  // a pixel at first
    CHECK(std::abs(bench.look.hovered->column - before->column) <= 190);
    bench.ui.wheel(-1.0F);
    CHECK(bench.cells() > cells / 100.0);
    bench.ui.move_to({1300.0F, 700.0F});
    const view::Actions actions = bench.ui.wheel(1.0F);
    CHECK(!has<view::SetMapCamera>(actions));
    CHECK(!has<view::FitMap>(actions));
}

TEST_CASE("a drag pans as far as the hand moved and selects nothing") {
    LargeBench bench;
    look_at(bench.look, {70000.0, 60000.0, 1.0});
    const view::Actions actions = bench.ui.drag(kOnCanvas, {kOnCanvas.x + 100, kOnCanvas.y - 60});
    CHECK(bench.look.camera.column == doctest::Approx(59900.0));
    CHECK(bench.look.camera.row == doctest::Approx(70060.0));
    CHECK(!has<view::SelectMapCell>(actions));
}

TEST_CASE("a click selects the cell under the pointer and moves nothing") {
    LargeBench bench;
    const view::Actions actions = bench.ui.click(kOnCanvas);
    const auto selected = action_of<view::SelectMapCell>(actions);
    CHECK(selected.cell == bench.look.hovered);
    CHECK(!has<view::SetMapCamera>(actions));
    CHECK(!has<view::FitMap>(actions));
}

TEST_CASE("a double click comes closer, a click beside the matrix selects nothing") {
    LargeBench bench;
    const double cells = bench.cells();
    bench.ui.double_click(kOnCanvas);
    CHECK(bench.cells() == doctest::Approx(cells / 2.0));
    look_at(bench.look, {0.0, 0.0, 100.0});
    CHECK(!has<view::SelectMapCell>(bench.ui.click({200.0F, 200.0F})));
    CHECK(!bench.look.hovered);
}

TEST_CASE("the minimap moves the camera to where it is pressed") {
    LargeBench bench;
    look_at(bench.look, {65536.0, 65536.0, 1.0});
    bench.ui.click({1600.0F * 0.7F + 40.0F, 30.0F});
    CHECK(bench.look.camera.row < 25000.0);
    CHECK(bench.look.camera.column < 45000.0);
    CHECK(bench.cells() == doctest::Approx(1.0));
}

TEST_CASE("Tab reaches the minimap, whose arrows move the view by half of what is seen") {
    view::MapLook look = sample_look(kTokens);
    view::LargeView view = sample_overview(look);
    look_at(look, {65536.0, 65536.0, 1.0});
    Panel panel([&](const ui::Frame& frame, view::Actions& out) {
        ui::draw_minimap({view, look, frame, out}, {{20.0F, 20.0F}, {180.0F, 180.0F}});
        for (const view::Action& action : out)
            if (const auto* moved = action.as<view::SetMapCamera>()) look_at(look, moved->camera);
    });
    CHECK_FALSE(has<view::SetMapCamera>(panel.ui.press(view::Key::right)));
    panel.ui.press(view::Key::tab);
    panel.ui.frames(2);
    const int ringed = panel.ui.drawn();
    const auto moves = [&](view::Key key) {
        const view::MapCamera before = view::shown_camera(look);
        panel.ui.press(key);
        const view::MapCamera after = view::shown_camera(look);
        return std::pair{after.column - before.column, after.row - before.row};
    };
    const double half = view::canvas_of(look).width / 2 * view::cells_per_pixel(look);
    const double high = view::canvas_of(look).height / 2 * view::cells_per_pixel(look);
    CHECK(moves(view::Key::right) == std::pair{half, 0.0});
    CHECK(moves(view::Key::left) == std::pair{-half, 0.0});
    CHECK(moves(view::Key::down) == std::pair{0.0, high});
    CHECK(moves(view::Key::up) == std::pair{0.0, -high});
    panel.ui.press(view::Key::escape);
    panel.ui.frames(2);
    CHECK(panel.ui.drawn() < ringed);
}

TEST_CASE("every control of the side panel answers the mouse") {
    LargeBench bench;
    bench.look.selected = Cell{70001, 5};
    look_at(bench.look, {65536.0, 65536.0, 1.0});
    const view::Actions actions = clicks_over_side(bench, 58.0F);
    CHECK(std::ranges::any_of(actions, [](const view::Action& action) {
        const auto* moved = action.as<view::SetMapCamera>();
        return moved && moved->camera.cells_per_unit != 1.0;  // the minimap alone zooms nothing
    }));
    CHECK(has<view::FitMap>(actions));
    CHECK(has<view::GoToNeedle>(actions));
    CHECK(has<view::ShowGoTo>(actions));
    CHECK(has<view::SearchMap>(actions));
    CHECK(has<view::GoToCell>(actions));
}

TEST_CASE("the bar sets picture and colours, its popover what is generated; small windows tabs") {
    App app;
    app.set(view::planted_state());
    const ImRect bar = child("bar")->Rect();
    const view::Actions colors =
        clicks_over(app.ui, bar.Min, {bar.Min.x + 640.0F, bar.Max.y}, {14.0F, 24.0F});
    CHECK(has<view::SetMapPicture>(colors));
    CHECK(has<view::SetMapColors>(colors));
    CHECK(child("cells"));
    app.act({view::ShowMore{true}}, 3);
    REQUIRE(ImGui::FindWindowByName("rest"));
    const ImRect rest = ImGui::FindWindowByName("rest")->Rect();
    const ImVec2 switches{rest.Min.x + 24.0F, rest.GetCenter().y};  // below the buttons
    CHECK(click_until<view::DraftPlanted>(app.ui, switches, rest.Max, {20.0F, 12.0F}));
    App low({1024.0F, 640.0F});
    low.set(view::planted_state());
    CHECK(child("cells") == nullptr);
    low.act({view::ShowPart{"cells"}}, 3);
    CHECK(child("tabs"));
}

TEST_CASE("the buttons of the side panel zoom out and in by two, and to the whole matrix") {
    LargeBench bench;
    look_at(bench.look, {65536.0, 65536.0, 1.0});
    std::vector<double> steps;  // of cells per unit, one for each click that zoomed
    const view::Actions all =
        over({1280.0F, 16.0F}, {1500.0F, 130.0F}, {12.0F, 11.0F}, [&](ImVec2 at) {
            const double before = bench.cells();
            view::Actions actions = bench.ui.click(at);
            if (bench.cells() != before) steps.push_back(bench.cells() / before);
            return actions;
        });
    CHECK(std::ranges::any_of(steps, [](double step) { return std::abs(step - 2.0) < 1e-9; }));
    CHECK(std::ranges::any_of(steps, [](double step) { return std::abs(step - 0.5) < 1e-9; }));
    CHECK(has<view::FitMap>(all));
    CHECK(bench.cells() == doctest::Approx(view::fitted_camera(bench.look).cells_per_unit));
}

TEST_CASE("each row of both lists goes to its own cell") {
    LargeBench bench;
    bench.view = sample_close_up(bench.look);
    bench.view.inspector = {};
    bench.view.heads.clear();
    bench.view.found.resize(5);
    bench.view.top.resize(5);
    for (view::StrongCell& cell : bench.view.found) cell.cell.row += 100;
    bench.look.search = large::Search{};
    std::set<Index> rows;
    for (const view::Action& action : clicks_over_side(bench, 300.0F))
        if (const auto* go = action.as<view::GoToCell>()) rows.insert(go->cell.row);
    CHECK(rows ==
          std::set<Index>{70001, 70002, 70003, 70004, 70005, 70101, 70102, 70103, 70104, 70105});
}

TEST_CASE("the pass is started and paused by its button") {
    LargeBench bench;
    for (const bool on : {true, false}) {
        bench.view.pass.offer_start = on;
        bench.view.pass.offer_pause = !on;
        CHECK(action_of<view::SetFullPass>(
                  clicks_over(bench.ui, {400.0F, 4.0F}, {1140.0F, 60.0F}, {12.0F, 8.0F}))
                  .on == on);
    }
}

TEST_CASE("typing a cell and Enter goes there; a draft that names none keeps the field open") {
    LargeBench bench;
    bench.view.go_to_open = true;
    bench.ui.frames(3);
    const auto draft = action_of<view::DraftGoTo>(bench.ui.type("7"));
    CHECK(draft.text == "7");
    bench.view.go_to_draft = draft.text;
    CHECK(!has<view::ShowGoTo>(bench.ui.press(view::Key::enter)));
    bench.view.go_to = Cell{7, 7};
    bench.ui.frames(3);
    const view::Actions actions = bench.ui.press(view::Key::enter);
    const auto go = action_of<view::GoToCell>(actions);
    CHECK(go.cell == Cell{7, 7});
    CHECK(has<view::ShowGoTo>(actions));
}

TEST_CASE("digits that come in one frame with G are typed into its field") {
    App app;
    app.set(view::planted_state());
    app.ui.press_and_type(view::Key::g, "g12, 7");
    CHECK(app.state.workspace == "large");
    CHECK(map_look(app.state).go_to_open);
    CHECK(map_look(app.state).go_to_draft == "12, 7");
    app.ui.frames(2);
    app.ui.type("8");
    CHECK(map_look(app.state).go_to_draft == "12, 78");
}

TEST_CASE("an empty workspace offers the generator") {
    LargeBench bench;
    bench.view = sample_empty_map();
    bench.ui.frames(2);
    const view::Actions all =
        clicks_over(bench.ui, {340.0F, 300.0F}, {780.0F, 760.0F}, {24.0F, 12.0F});
    CHECK(has<view::OpenPlanted>(all));
    const auto* prompt = last<view::ShowPrompt>(all);
    REQUIRE(prompt);
    CHECK(prompt->kind == view::PromptKind::open);
}

TEST_CASE("what the list of strongest cells leaves out is chosen by the mouse") {
    LargeBench bench;
    bench.view.not_finite = {"Q holds 1 NaN: the first is Q[3, 2] = NaN."};
    bench.view.first_nan = Cell{3, 0};
    bench.view.inspector = {};
    bench.view.top.clear();
    const view::Actions actions = clicks_over_side(bench, 58.0F);
    CHECK(has<view::SetTopCells>(actions));
    CHECK(std::ranges::any_of(actions, [](const view::Action& action) {
        const auto* to = action.as<view::GoToCell>();
        return to && to->cell == Cell{3, 0};
    }));
}
