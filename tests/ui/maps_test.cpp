// More than 64 tokens in Step, Heads, Masks and Variants: a map in place of the grid, under hands.

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/map/camera.h"
#include "app/common/sheet.h"
#include "app/common/workspace.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/masks/actions.h"
#include "core/engine.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/ui/app.h"
#include "tests/view/waves.h"

using namespace attn;
using attn::test::App, view::map_look;

namespace {

constexpr const char* kMapWorkspaces[] = {"step", "heads", "masks", "kinds"};

AttentionSpec causal_call(Score score = Score::dot) {
    AttentionSpec spec;
    spec.score = score;
    spec.mask.causal = CausalAlign::top_left;
    return spec;
}

/// A workspace over so many tokens, all of it there.
struct Maps : App {
    Maps(const char* workspace, Index tokens, const AttentionSpec& spec = causal_call(),
         ImVec2 size = {1600.0F, 1000.0F})
        : App(size) {
        state = view::after(view::state_with(tokens, spec),
                            {view::GoToStage{Stage::weights}, view::SetWorkspace{workspace}});
        ui.frames(2);
        draw_frames();
        if (view::is_map_shown(state)) state = view::mapped(std::move(state));
        ui.frames(2);
    }
    /// A place on a map where a query may attend to the key.
    std::optional<ImVec2> open_place() {
        for (float y = 150.0F; y < 900.0F; y += 23.0F)
            for (float x = 260.0F; x < 1200.0F; x += 19.0F) {
                ui.move_to({x, y});
                const auto& cell = map_look(state).hovered;
                if (cell && cell->column < cell->row && cell->row > 8) return ImVec2{x, y};
            }
        return std::nullopt;
    }
    view::InspectorView inspector() const { return shown_workspace(state).inspector(state); }
    double cell_px() const { return 1.0 / view::cells_per_pixel(map_look(state)); }
};

/// All that it says.
std::string text_of_all(const view::InspectorView& view) {
    std::string text = view.title + "\n" + view.value + "\n" + view.as_text;
    for (const view::Line& line : view.lines) {
        text += "\n" + line.label;
        for (const view::Piece& piece : line.pieces) text += " " + piece.text;
    }
    return text;
}

large::Cell chosen_in(const view::AppState& state) {
    if (state.workspace == "heads") return view::heads_look(state).pair;
    if (state.workspace == "kinds") return view::kinds_look(state).selected.value();
    if (state.workspace == "step") return {state.selected->row, state.selected->column};
    return {view::masks_look(state).pair.query, view::masks_look(state).pair.key};
}

}  // namespace

TEST_CASE("a click on the map of each workspace: the inspector has the engine's number") {
    for (const Index tokens : {65, 200})
        for (const char* const workspace : kMapWorkspaces) {
            INFO("tokens ", tokens, ", workspace ", workspace);
            Maps app(workspace, tokens);
            const auto place = app.open_place();
            REQUIRE(place);
            const large::Cell cell = *map_look(app.state).hovered;
            app.ui.click(*place);
            CHECK(chosen_in(app.state) == cell);
            const Trace engine = attend(*app.state.document().inputs, causal_call()).value();
            const double weight = engine[Stage::weights](0, 0, cell.row, cell.column);
            CAPTURE(text_of_all(app.inspector()));
            CHECK(view::has(text_of_all(app.inspector()), view::number(weight)));
        }
}

TEST_CASE("the wheel zooms the maps and dragging pans them; all of a workspace's move together") {
    for (const char* const workspace : kMapWorkspaces) {
        CAPTURE(workspace);
        Maps app(workspace, 200);
        const auto place = app.open_place();
        REQUIRE(place);
        const large::Cell under = *map_look(app.state).hovered;
        const double before = app.cell_px();
        for (int n = 0; n < 8; ++n) app.ui.wheel(1.0F);
        CHECK(app.cell_px() > 3.0 * before);
        CHECK(*map_look(app.state).hovered == under);
        const view::MapCamera still = view::shown_camera(map_look(app.state));
        const view::Pair chosen = view::masks_look(app.state).pair;
        app.ui.drag(*place, {place->x + 60.0F, place->y + 30.0F});
        CHECK(view::shown_camera(map_look(app.state)).column < still.column);
        CHECK(view::shown_camera(map_look(app.state)).row < still.row);
        CHECK(view::masks_look(app.state).pair == chosen);
        app.ui.move_to({2.0F, 990.0F});
        app.ui.frames(2);
        CHECK_FALSE(map_look(app.state).hovered);
    }
}

TEST_CASE("a mask of 1,000 tokens: a click says which rule, and the weight that is left") {
    AttentionSpec spec = causal_call();
    spec.mask.window = 300;
    Maps app("masks", 1000, spec);
    CHECK((*app.state.trace)[Stage::weights].empty());
    const auto place = app.open_place();
    REQUIRE(place);
    app.ui.click(*place);
    const large::Cell cell = chosen_in(app.state);
    const Trace engine = attend(*app.state.document().inputs, spec).value();
    const double weight = engine[Stage::weights](0, 0, cell.row, cell.column);
    REQUIRE(weight > 0.0);
    CHECK(view::has(text_of_all(app.inspector()), view::number(weight)));
    CHECK(app.inspector().value == "allowed");
    app.draw_frames({view::SelectPair{900, 10, false}});
    CHECK(app.inspector().value == "forbidden");
    CHECK(view::has(text_of_all(app.inspector()), "window forbids"));
    // what is selected is painted by the keyboard
    app.draw_frames({view::SelectPair{900, 899, false}, view::SelectPair{901, 900, true}});
    app.ui.press(view::Key::space);
    CHECK(app.inspector().value == "forbidden");
    CHECK(app.state.document().spec.mask.custom != nullptr);
}

TEST_CASE("scores without a map of their own, gradients and dropped weights are maps in Step") {
    struct Case {
        AttentionSpec spec;
        Stage stage;
        bool gradients;
    };
    AttentionSpec dropped = causal_call();
    dropped.dropout = 0.25;
    for (const Case& each :
         {Case{causal_call(Score::student_t), Stage::scores, false},
          Case{causal_call(Score::student_t), Stage::weights, false},
          Case{causal_call(), Stage::weights, true}, Case{dropped, Stage::dropped, false}}) {
        CAPTURE(info(each.stage).key);
        Maps app("step", 100, each.spec);
        app.act({view::GoToStage{each.stage}, view::ShowGradients{each.gradients}});
        const auto place = app.open_place();
        REQUIRE(place);
        const large::Cell cell = *map_look(app.state).hovered;
        app.ui.click(*place);
        const view::CellRef at{each.stage, cell.row, cell.column};
        REQUIRE(app.state.selected == at);
        const auto value =
            each.gradients ? view::gradient_at(app.state, at) : view::value_at(app.state, at);
        CHECK(app.inspector().value == view::number(value.value()));
    }
}

TEST_CASE("no workspace refuses a sentence for its length up to 2,000 tokens") {
    for (const Index tokens : {65, 128, 129, 200, 512, 1000, 2000}) {
        CAPTURE(tokens);
        const view::AppState state = view::state_with(tokens);
        for (const view::WorkspaceInfo* const each : state.workspaces)
            if (each->key == "heads" || each->key == "masks" || each->key == "kinds")
                CHECK(each->missing_data(state) == "");
    }
}

TEST_CASE("maps are drawn in windows of every size, one after the other in a low one") {
    for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{2560, 1440}, ImVec2{640, 400}})
        for (const char* const workspace : kMapWorkspaces) {
            INFO("workspace ", workspace, ", size.x ", size.x);
            const Maps app(workspace, 200, causal_call(), size);
            CHECK(map_look(app.state).canvas.width >= 48.0);
            CHECK(app.ui.drawn() > 200);
        }
}
