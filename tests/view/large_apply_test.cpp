// Actions of the Map workspace: what they change, how they are written down, what the worker is asked.

#include <nlohmann/json.hpp>

#include "app/common/describe_json.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"
#include "app/common/map/map_cell.h"
#include "app/common/map/text.h"
#include "app/workspaces/large/state.h"
#include "core/train/run.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// What a session keeps of the map.
nlohmann::ordered_json large_to(MapLook look) {
    auto retained = nlohmann::ordered_json::object();
    JsonWriter writer(retained);
    describe(writer, look);
    return retained;
}

using Of = large::Search::Of;

Actions journaled() {
    return {DraftPlanted{{.tokens = 777, .needle = false}},
            OpenPlanted{{.tokens = 1024, .d_k = 32, .seed = 9, .causal = true}},
            OpenFile{"a “b”.npz"},
            DocumentReady{"a “b”.npz", "", nullptr},
            SetMapCamera{{3.25, 1e-3, 0.125}},
            FitMap{},
            ShowGoTo{true},
            DraftGoTo{"12, 5"},
            GoToCell{{12, 5}},
            GoToNeedle{},
            SelectMapCell{{1, 2}},
            SetMapColors{{large::Pooling::log_mean, false, 2.0, 98.0}},
            ShowHead{2, 1},
            SetFullPass{true},
            SetMapPicture{MapPictureOf::scores},
            SetTopCells{{true, true}},
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
        CHECK(&read->type() == &action.type());
        CHECK(to_journal(*read) == line);
    }
    for (const Action& action : Actions{MapInputReady{}, MapReady{}, MapCellReady{},
                                        MachineProbed{}, SetMapCanvas{}, HoverMapCell{}})
        CHECK_FALSE(to_journal(action));
    const auto fault = [](const char* line) { return from_journal(line).error().text(); };
    CHECK(has(fault(R"({"action":"go_to_cell","cell":{"row":1}})"), "has no 'column'"));
    CHECK(has(
        fault(R"({"action":"set_map_camera","camera":{"row":1,"column":1,"cells_per_unit":0}})"),
        "expected a number above 0"));
    CHECK(has(
        fault(R"({"action":"set_map_colors","colors":{"low_percentile":9,"high_percentile":3}})"),
        "ascending"));
}

TEST_CASE("a session keeps what the map looks at") {
    AppState state = planted_state();
    state = after(std::move(state),
                  {GoToCell{{100, 200}}, SetMapColors{{large::Pooling::mean, false, 1.0, 99.0}},
                   SetFullPass{false}, SearchMap{large::Search{Of::key, 3}},
                   SetMapPicture{MapPictureOf::scores}, SetTopCells{{.one_per_query = true}}});
    const AppState read = reopened_alike(state, {.open = open_planted});
    CHECK(read.workspace == "large");
    CHECK(read.document().origin == state.document().origin);
    CHECK(map_look(read).selected == large::Cell{100, 200});
    CHECK(map_look(read).picture == MapPictureOf::scores);
    CHECK(map_look(read).top == large::TopChoice{false, true});
    const AppState again = with_map_input(after(read, {SetMapCanvas{{1000.0, 800.0}}}));
    CHECK(map_look(again).camera == map_look(state).camera);
    CHECK(requested_map(again)->view == requested_map(after(state, {Tick{1.0}}))->view);
}

TEST_CASE("a session names a generated matrix by how it is made, and needs an opener to read it") {
    const large::PlantedSpec spec{.tokens = 300, .d_k = 32, .seed = 9, .needle = false};
    const AppState state =
        after(opened_state(spec), {SetTemperature{2.0}, SetTheme{ThemeName::light}});
    const std::string text = session_to_json(state);
    CHECK(has(text, "\"planted\""));
    CHECK(text.size() < 5120);  // none of its numbers
    std::optional<OpenRequest> asked;
    const Opener open = [&](const OpenRequest& request, const RunControl& control) {
        asked = request;
        return open_planted(request, control);
    };
    const auto read = session_from_json(text, "session", SessionContext{.open = open});
    REQUIRE(read);
    REQUIRE(asked);
    CHECK(asked->what == OpenRequest{spec}.what);
    CHECK(session_to_json(*read) == text);
    CHECK(read->document().origin == state.document().origin);
    CHECK(read->document().spec.temperature == 2.0);
    CHECK(map_look(*read).size == map_look(state).size);
    const auto unopened = session_from_json(text, "session");
    REQUIRE_FALSE(unopened);
    CHECK(has(unopened.error().text(), "'document'"));
    const Opener none = [](const OpenRequest&, const RunControl&) -> Result<Opened> {
        return failed("there is no memory");
    };
    const auto failing = session_from_json(text, "session", SessionContext{.open = none});
    REQUIRE_FALSE(failing);
    CHECK(has(failing.error().text(), "there is no memory"));
}

TEST_CASE("a session that is opened in a running window looks at what it looked at") {
    const AppState saved =
        after(planted_state(), {GoToCell{{100, 200}}, SearchMap{large::Search{Of::key, 3}}});
    auto session = std::make_shared<const AppState>(
        session_from_json(session_to_json(saved), "session", {.open = open_planted}).value());
    const auto opened =
        std::make_shared<const Opened>(Opened{session->shared_document(), session, {}});
    const AppState shown = after(
        planted_state({.tokens = 512}),
        {SetMapCanvas{{600.0, 400.0}}, OpenFile{"a.json"}, DocumentReady{"a.json", "", opened}});
    CHECK(large_to(map_look(shown)) == large_to(map_look(saved)));
    CHECK(map_look(shown).size == map_look(saved).size);
    CHECK(map_look(shown).canvas == MapCanvas{600.0, 400.0});
    CHECK(shown.workspace == "large");
    CHECK(shown.session_file == "a.json");
    CHECK(requested_map_input(shown)->document == shown.shared_document());
}

TEST_CASE("what is made of a corpus keeps theme and scale, and is not saved over it") {
    const AppState saved = after(planted_state(), {SetTheme{ThemeName::dark}, SetUiScale{1.0}});
    const auto opened = std::make_shared<const Opened>(
        Opened{saved.shared_document(), std::make_shared<const AppState>(saved), {}});
    const AppState now = after(initial_state(), {SetTheme{ThemeName::light}, SetUiScale{1.5}});
    for (const char* const path : {"heads.npz", "a.json"}) {
        CAPTURE(path);
        const bool session = path == std::string("a.json");
        const AppState shown = after(now, {OpenFile{path}, DocumentReady{path, "", opened}});
        CHECK(shown.workspace == "large");
        CHECK(shown.theme == (session ? ThemeName::dark : ThemeName::light));
        CHECK(shown.ui_scale == (session ? 1.0 : 1.5));
        CHECK(shown.session_file == (session ? path : ""));
    }
}

TEST_CASE("the same actions give the same state whatever room the window has") {
    const AppState opened = opened_state();
    const Actions actions{SetMapCamera{{100.25, 200.5, 0.5}},
                          SetMapCamera{{300.0, 100.0, 1.1}},  // more than all of it, where wide
                          SetMapCamera{{1e6, -50.0, 3.0}},    // beside the matrix
                          SetMapCamera{{5.0, 5.0, 1e300}},
                          SetMapCamera{{5.0, 5.0, 1e-300}},
                          GoToCell{{1000, 3}},
                          FitMap{},
                          SelectMapCell{{7, 8}},
                          SetMapCamera{{512.0, 512.0, 0.01}},
                          GoToNeedle{},
                          SearchMap{large::Search{Of::key, 3}},
                          SetMapColors{{large::Pooling::mean, false, 1.0, 99.0}},
                          GoToCell{{5000, 1}}};
    AppState reference = opened;  // without a window
    std::vector<AppState> states;
    for (const MapCanvas& canvas :
         {MapCanvas{1000.0, 800.0, 1.0}, MapCanvas{313.0, 977.0, 1.5},
          MapCanvas{2560.0, 1440.0, 2.0}, MapCanvas{8.0, 8.0, 1.0}, MapCanvas{0.0, 0.0, 1.0}})
        states.push_back(after(opened, {SetMapCanvas{canvas}}));
    for (const Action& action : actions) {
        CAPTURE(to_journal(action).value());
        view::apply(reference, action);
        for (AppState& state : states) {
            CAPTURE(map_look(state).canvas.width);
            CHECK(large_to(map_look(acted(state, {action}))) == large_to(map_look(reference)));
            CHECK(session_to_json(state) == session_to_json(reference));
        }
    }
    const MapCanvas space{640.0, 480.0, 1.25};
    reference = with_map_input(after(std::move(reference), {SetMapCanvas{space}}));
    for (AppState& state : states) {
        state = with_map_input(after(std::move(state), {SetMapCanvas{space}}));
        CHECK(shown_camera(map_look(state)) == shown_camera(map_look(reference)));
        CHECK(requested_map(state)->view == requested_map(reference)->view);
    }
}

TEST_CASE("an answer to what is no longer wanted is dropped") {
    const AppState state = planted_state();
    const auto& input = map_look(state).input;
    const auto snapshot = std::make_shared<const large::MapSnapshot>();
    CHECK(map_look(after(state, {MapReady{input, snapshot}})).snapshot == snapshot);
    const auto another = std::make_shared<const large::MapInput>(*input);
    CHECK_FALSE(map_look(after(state, {MapReady{another, snapshot}})).snapshot);
    auto other_head = std::make_shared<large::MapSnapshot>();
    other_head->request.head = {0, 1};
    CHECK_FALSE(map_look(after(state, {MapReady{input, other_head}})).snapshot);
    auto ended = std::make_shared<large::MapSnapshot>(*snapshot);
    ended->fault = "no memory";
    const AppState reported = after(state, {MapReady{input, ended}});
    CHECK(map_look(reported).fault == "no memory");
    CHECK(reported.message.severity == Severity::error);
    const auto cell = std::make_shared<const MapCell>();
    CHECK(map_look(after(state, {MapCellReady{input, cell}})).inspected == cell);
    CHECK_FALSE(map_look(after(state, {MapCellReady{another, cell}})).inspected);
    const AppState opening = after(state, {OpenFile{"other.npz"}});
    CHECK(map_look(opening).input == input);  // what is open stays until the other is there
    const AppState other = opened_in(opening, {.tokens = 1024, .seed = 2});
    CHECK_FALSE(map_look(other).input);
    CHECK_FALSE(map_look(after(other, {MapInputReady{state.shared_document(), input, ""}})).input);
    CHECK_FALSE(map_look(after(other, {MapReady{input, snapshot}})).snapshot);
    CHECK_FALSE(map_look(after(other, {MapCellReady{input, cell}})).inspected);
    CHECK_FALSE(requested_map(other));
    CHECK(requested_map_input(other)->document == other.shared_document());
    CHECK(other.shared_document() != state.shared_document());
}

TEST_CASE("what cannot be opened leaves the map as it is") {
    const AppState state = planted_state();
    const AppState refused =
        after(state, {OpenFile{"other.npz"},
                      DocumentReady{"other.npz", "other.npz: there is no such file", nullptr}});
    CHECK(refused.message.text == "other.npz: there is no such file.");
    CHECK(refused.message.severity == Severity::error);
    CHECK_FALSE(requested_document(refused));
    CHECK(refused.shared_document() == state.shared_document());
    CHECK(map_look(refused).input == map_look(state).input);
    CHECK(large_to(map_look(refused)) == large_to(map_look(state)));
}

TEST_CASE("jobs are requested only while the workspace is shown, and once") {
    const AppState opened = opened_state();
    CHECK_FALSE(requested_probe(opened));  // pictures and tests measure nothing
    CHECK(requested_map_input(opened));
    CHECK_FALSE(requested_map_cell(opened));
    CHECK_FALSE(requested_map(opened));
    AppState probing = opened;
    map_look(probing).machine.probes = true;
    CHECK(requested_probe(probing));
    CHECK_FALSE(requested_map_input(probing));  // nothing computes beside the measurement
    CHECK_FALSE(requested_probe(after(probing, {SetWorkspace{"step"}})));
    const AppState probed = after(probing, {MachineProbed{100.0, 10.0}});
    CHECK_FALSE(requested_probe(probed));
    CHECK(requested_map_input(probed));
    CHECK_FALSE(requested_map_input(after(opened, {SetWorkspace{"saturation"}})));
    const AppState state = after(planted_state(), {SelectMapCell{{5, 6}}});
    CHECK_FALSE(requested_map_input(state));
    REQUIRE(requested_map_cell(state));
    CHECK(requested_map_cell(state)->cell == large::Cell{5, 6});
    CHECK_FALSE(requested_map_cell(after(state, {SetWorkspace{"saturation"}})));
    const AppState answered = after(state, {run(*requested_map_cell(state), {})});
    CHECK_FALSE(requested_map_cell(answered));
    CHECK(requested_map_cell(after(answered, {SelectMapCell{{5, 7}}})));
}

TEST_CASE("a request says where the camera is and that it moves; no such head is refused") {
    const AppState still = after(planted_state(), {Tick{1.0}});
    CHECK_FALSE(is_animating(still));
    CHECK_FALSE(requested_map(still)->view.moving);
    for (const AppState& moving : {panned_by(still, -100.0, 0.0), zoomed_by(still, 2.0)}) {
        CHECK(is_animating(moving));
        CHECK(requested_map(moving)->view.moving);
        CHECK_FALSE(requested_map(after(moving, {Tick{1.0}}))->view.moving);
    }
    const AppState at = after(still, {SetMapCamera{{100.0, 200.0, 0.5}}});
    CHECK(requested_map(at)->view.view == large::MapView{-100.0, -50.0, 400.0, 500.0, 0});
    for (const ShowHead& action : {ShowHead{1, 0}, ShowHead{0, 1}, ShowHead{-1, 0}}) {
        const AppState state = after(planted_state(), {action});
        CHECK(shown_head(state) == large::Head{});
        CHECK(state.message.severity == Severity::warning);
    }
}

TEST_CASE("the exact pass runs by itself where it is quick, else when asked") {
    CHECK(wants_full_pass(map_look(planted_state())));
    AppState state = planted_state();
    large::MapInput wide = *map_look(state).input;
    wide.source.size.tq = wide.source.size.tk = large::kMostPlanted;
    map_look(state).input = std::make_shared<const large::MapInput>(wide);
    CHECK_FALSE(wants_full_pass(map_look(state)));
    CHECK(wants_full_pass(map_look(after(state, {SetFullPass{true}}))));
    CHECK_FALSE(wants_full_pass(map_look(after(planted_state(), {SetFullPass{false}}))));
}

TEST_CASE("every command of the workspace does what it says") {
    const AppState state = after(planted_state(), {GoToCell{{500, 400}}, Tick{1.0}});
    const auto press = [&](Chord chord) { return pressed(state, chord); };
    CHECK(map_look(press({Key::plus})).camera.cells_per_unit <
          map_look(state).camera.cells_per_unit);
    CHECK(map_look(press({Key::minus})).camera.cells_per_unit >
          map_look(state).camera.cells_per_unit);
    CHECK(map_look(press({Key::f})).fitted);
    CHECK(map_look(press({Key::home})).fitted);
    CHECK(map_look(press({Key::up})).camera.row < map_look(state).camera.row);
    CHECK(map_look(press({Key::down})).camera.row > map_look(state).camera.row);
    CHECK(map_look(press({Key::left})).camera.column < map_look(state).camera.column);
    CHECK(map_look(press({Key::right})).camera.column > map_look(state).camera.column);
    CHECK(map_look(press({Key::g})).go_to_open);
    CHECK(map_look(press({Key::n})).selected == state.document().landmarks->needle);
    CHECK(map_look(press({Key::c})).colors.pooling == large::Pooling::log_mean);
    CHECK_FALSE(map_look(press({Key::l})).colors.log_scale);
    CHECK_FALSE(wants_full_pass(map_look(press({Key::space}))));
    CHECK(map_look(press({Key::a})).search == large::Search{Of::key, 400});
    CHECK(map_look(press({Key::q})).search == large::Search{Of::query, 500});
    CHECK_FALSE(map_look(press({Key::escape})).selected);
    CHECK(after(state, {SetWorkspace{"step"}}).workspace == "step");
    CHECK_FALSE(find_commands(state, "generate 65,536").empty());
}

TEST_CASE("Escape closes the nearest thing: the field, the search, the selection") {
    AppState state = after(planted_state(), {SelectMapCell{{1, 2}},
                                             SearchMap{large::Search{Of::key, 2}}, ShowGoTo{true}});
    const auto escape = [&] { state = pressed(state, {Key::escape}); };
    escape();
    CHECK_FALSE(map_look(state).go_to_open);
    CHECK(map_look(state).search);
    escape();
    CHECK_FALSE(map_look(state).search);
    CHECK(map_look(state).selected);
    escape();
    CHECK_FALSE(map_look(state).selected);
}

TEST_CASE("the map shows the head that all workspaces show") {
    AppState state = with_map_input(
        after(initial_state(), {SetHeads{2}, SetWorkspace{"large"}, SelectMapCell{{1, 2}}}));
    CHECK(requested_map(state)->view.head == large::Head{0, 0});
    auto snapshot = std::make_shared<large::MapSnapshot>();
    state = after(std::move(state), {MapReady{map_look(state).input, snapshot}});
    CHECK(map_look(state).snapshot);
    const AppState other = after(state, {SetWorkspace{"step"}, ShowHead{1}, SetWorkspace{"large"}});
    CHECK(requested_map(other)->view.head == large::Head{0, 1});
    CHECK(requested_map_cell(other)->head == large::Head{0, 1});
    CHECK(map_look(other).input == map_look(state).input);
    CHECK_FALSE(map_look(other).snapshot);  // it is of the other head
    snapshot = std::make_shared<large::MapSnapshot>(*snapshot);
    snapshot->request.head = {0, 1};
    CHECK(map_look(after(other, {MapReady{map_look(state).input, snapshot}})).snapshot);
}
