// Actions of the Large workspace: what they change, how they are written down, what the worker is asked.
#include <doctest/doctest.h>

#include "app/view/commands.h"
#include "app/view/large/camera.h"
#include "app/view/large/words.h"
#include "app/view/session.h"
#include "tests/view/large_sample.h"

using namespace attn;
using namespace attn::view;

namespace {

using Of = large::Search::Of;

Actions journaled() {
    return {DraftPlanted{{.tokens = 777, .needle = false}},
            OpenPlanted{{.tokens = 1024, .d_k = 32, .seed = 9, .causal = true}},
            OpenMapFile{"a “b”.npz"},
            SetMapCamera{{3.25, 1e-3, 0.125}},
            ZoomMap{2.0},
            PanMap{-0.25, 0.5},
            FitMap{},
            ShowGoTo{true},
            DraftGoTo{"12, 5"},
            GoToCell{{12, 5}},
            GoToNeedle{},
            SelectMapCell{{1, 2}},
            SetMapColors{{large::Pooling::log_mean, false, 2.0, 98.0}},
            ShowMapHead{{1, 2}},
            SetFullPass{true},
            SearchMap{large::Search{Of::query, 7}},
            SearchMap{std::nullopt}};
}

}  // namespace

TEST_CASE("every action of the map that a person does is journaled and read back") {
    for (const Action& action : journaled()) {
        const auto line = to_journal(action);
        REQUIRE(line);
        CAPTURE(*line);
        const auto read = from_journal(*line);
        REQUIRE(read);
        CHECK(read->index() == action.index());
        CHECK(to_journal(*read) == line);
    }
    for (const Action& action : Actions{MapInputReady{}, MapReady{}, MapCellReady{},
                                        MachineProbed{}, SetMapCanvas{}, HoverMapCell{}})
        CHECK_FALSE(to_journal(action));
    const auto fault = [](const char* line) { return from_journal(line).error().sentence; };
    CHECK(fault(R"({"action":"go_to_cell","cell":{"row":1}})").find("has no 'column'") !=
          std::string::npos);
    CHECK(fault(R"({"action":"set_map_camera","camera":{"row":1,"column":1,"cells_per_pixel":0}})")
              .find("expected a number above 0") != std::string::npos);
    CHECK(fault(R"({"action":"set_map_colors","colors":{"low_percentile":9,"high_percentile":3}})")
              .find("ascending") != std::string::npos);
}

TEST_CASE("a session keeps what the map looks at") {
    AppState state = planted_state();
    state = after(std::move(state),
                  {GoToCell{{100, 200}}, SetMapColors{{large::Pooling::mean, false, 1.0, 99.0}},
                   SetFullPass{false}, SearchMap{large::Search{Of::key, 3}}});
    const std::string text = session_to_json(state);
    const auto read = session_from_json(text, "session");
    REQUIRE(read);
    CHECK(session_to_json(*read) == text);
    CHECK(read->workspace == Workspace::large);
    CHECK(read->large.origin == state.large.origin);
    CHECK(read->large.selected == large::Cell{100, 200});
    const AppState again = after(*read, {SetMapCanvas{{1000.0, 800.0}},
                                         MapInputReady{state.large.origin, state.large.input, ""}});
    CHECK(again.large.camera == state.large.camera);
    CHECK(wanted_map(again)->wish == wanted_map(after(state, {Tick{1.0}}))->wish);
}

TEST_CASE("an answer to what is no longer wanted is dropped") {
    const AppState state = planted_state();
    const auto snapshot = std::make_shared<const large::MapSnapshot>();
    CHECK(after(state, {MapReady{state.large.origin, snapshot}}).large.snapshot == snapshot);
    CHECK_FALSE(after(state, {MapReady{MapFile{"other.npz"}, snapshot}}).large.snapshot);
    auto other_head = std::make_shared<large::MapSnapshot>();
    other_head->wish.head = {0, 1};
    CHECK_FALSE(after(state, {MapReady{state.large.origin, other_head}}).large.snapshot);
    auto ended = std::make_shared<large::MapSnapshot>(*snapshot);
    ended->fault = "no memory";
    const AppState told = after(state, {MapReady{state.large.origin, ended}});
    CHECK(told.large.fault == "no memory");
    CHECK(told.message.severity == Severity::error);
    const AppState other = after(state, {OpenMapFile{"other.npz"}});
    CHECK_FALSE(other.large.input);
    CHECK_FALSE(
        after(other, {MapInputReady{state.large.origin, state.large.input, ""}}).large.input);
    CHECK(wanted_map(other)->opened != wanted_map(state)->opened);
}

TEST_CASE("a wish says where the camera is and that it moves") {
    const AppState still = after(planted_state(), {Tick{1.0}});
    CHECK_FALSE(is_animating(still));
    CHECK_FALSE(wanted_map(still)->wish.moving);
    const AppState moving = after(still, {PanMap{0.1, 0.0}});
    CHECK(is_animating(moving));
    CHECK(wanted_map(moving)->wish.moving);
    CHECK_FALSE(wanted_map(after(moving, {Tick{1.0}}))->wish.moving);
    const large::MapWish wish = wanted_map(after(still, {SetMapCamera{{100.0, 200.0, 0.5}}}))->wish;
    CHECK(wish.view == large::MapView{-100.0, -50.0, 400.0, 500.0, 0});
}

TEST_CASE("the exact pass runs by itself where it is quick, else when asked") {
    CHECK(wants_full_pass(planted_state().large));
    AppState state = planted_state();
    large::MapInput wide = *state.large.input;
    wide.source.size.tq = wide.source.size.tk = large::kMostPlanted;
    state.large.input = std::make_shared<const large::MapInput>(wide);
    CHECK_FALSE(wants_full_pass(state.large));
    CHECK(wants_full_pass(after(state, {SetFullPass{true}}).large));
    CHECK_FALSE(wants_full_pass(after(planted_state(), {SetFullPass{false}}).large));
}

TEST_CASE("every command of the workspace does what it says") {
    const AppState state = after(planted_state(), {GoToCell{{500, 400}}, Tick{1.0}});
    const auto list = commands(state);
    const auto press = [&](Chord chord) {
        const auto found = std::ranges::find(list, chord, &Command::chord);
        REQUIRE(found != list.end());
        CHECK(found->enabled);
        return after(state, {found->action});
    };
    CHECK(press({Key::plus}).large.camera.cells_per_pixel < state.large.camera.cells_per_pixel);
    CHECK(press({Key::minus}).large.camera.cells_per_pixel > state.large.camera.cells_per_pixel);
    CHECK(press({Key::f}).large.fitted);
    CHECK(press({Key::home}).large.fitted);
    CHECK(press({Key::up}).large.camera.row < state.large.camera.row);
    CHECK(press({Key::down}).large.camera.row > state.large.camera.row);
    CHECK(press({Key::left}).large.camera.column < state.large.camera.column);
    CHECK(press({Key::right}).large.camera.column > state.large.camera.column);
    CHECK(press({Key::g}).large.go_to_open);
    CHECK(press({Key::n}).large.selected == state.large.input->needle);
    CHECK(press({Key::p}).large.colors.pooling == large::Pooling::log_mean);
    CHECK_FALSE(press({Key::l}).large.colors.log_scale);
    CHECK_FALSE(wants_full_pass(press({Key::space}).large));
    CHECK(press({Key::a}).large.search == large::Search{Of::key, 400});
    CHECK(press({Key::q}).large.search == large::Search{Of::query, 500});
    CHECK_FALSE(press({Key::escape}).large.selected);
    CHECK(after(state, {SetWorkspace{Workspace::step}}).workspace == Workspace::step);
    CHECK_FALSE(find_commands(state, "generate 65,536").empty());
}

TEST_CASE("Escape closes the nearest thing: the field, the search, the selection") {
    AppState state = after(planted_state(), {SelectMapCell{{1, 2}},
                                             SearchMap{large::Search{Of::key, 2}}, ShowGoTo{true}});
    const auto escape = [&] {
        const auto list = commands(state);
        state =
            after(state, {std::ranges::find(list, Chord{Key::escape}, &Command::chord)->action});
    };
    escape();
    CHECK_FALSE(state.large.go_to_open);
    CHECK(state.large.search);
    escape();
    CHECK_FALSE(state.large.search);
    CHECK(state.large.selected);
    escape();
    CHECK_FALSE(state.large.selected);
}

TEST_CASE("a head that is not there is refused") {
    const AppState state = after(planted_state(), {ShowMapHead{{0, 1}}});
    CHECK(state.large.head == large::Head{});
    CHECK(state.message.severity == Severity::warning);
}
