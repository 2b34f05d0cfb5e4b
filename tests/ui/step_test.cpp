// What stands around the canvas of the Step workspace: sentence, heads; and presenting.

#include "app/common/actions.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/draw/heads.h"
#include "app/workspaces/step/draw/sentence.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::step_look;

namespace {

view::AppState state_after(const view::Actions& actions) {
    view::AppState state = view::initial_state();
    for (const view::Action& action : actions) view::apply(state, action);
    return state;
}

view::AppState with_text(int count, Stage stage) {
    std::string sentence;
    for (int n = 0; n < count; ++n) sentence += "word" + std::to_string(n) + " ";
    return state_after({view::SetSentence{sentence}, view::GoToStage{stage}});
}

const ui::WordColumns kColumns{{20.0F, 120.0F}, 80.0F, 28.0F, 80.0F};

/// The sentence of one state over columns at the top left of a window.
struct Sentence {
    view::SentenceView view;
    std::optional<view::CellRef> hovered;
    NullUi ui;

    explicit Sentence(const view::AppState& state, ImVec2 size = {1000.0F, 1000.0F})
        : view(build_sentence_view(state)), ui(size) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            hovered = ui::draw_sentence(view, kColumns, frame, out);
        });
        ui.frames(2);
    }
    /// Where a word is drawn, found by looking around.
    ImVec2 find(const view::CellRef& cell) {
        for (float y = 124.0F; y < 150.0F; y += 6.0F)
            for (float x = 4.0F; x < 900.0F; x += 8.0F) {
                ui.move_to({x, y});
                if (hovered == cell) return {x, y};
            }
        FAIL("no word stands for that cell");
        return {};
    }
};

}  // namespace

TEST_CASE("pointing at a word looks at its row, a click selects what it looks at most") {
    Sentence sentence(with_text(4, Stage::weights));
    const auto cell = sentence.view.queries.chips[2].cell;
    REQUIRE(cell);
    CHECK(cell->row == 2);
    const ImVec2 at = sentence.find(*cell);
    CHECK(action_of<view::SelectCell>(sentence.ui.click(at)).cell == *cell);
}

TEST_CASE("arcs are drawn from the weights on, never before") {
    const int before = Sentence(with_text(4, Stage::masked)).ui.drawn();
    const int after = Sentence(with_text(4, Stage::weights)).ui.drawn();
    CHECK(after > before + 3 * 24);  // three arcs at least, of as many points
}

TEST_CASE("Tab reaches the sentence once, and the arrow keys go from word to word") {
    const auto view = build_sentence_view(
        state_after({view::GoToStage{Stage::weights}, view::SelectCell{{Stage::weights, 1, 0}}}));
    test::Panel panel([&](const ui::Frame& frame, view::Actions& out) {
        draw_sentence(view, kColumns, frame, out);
    });
    const auto selected = [](const view::Actions& actions) -> std::optional<Index> {
        const auto* cell = last<view::SelectCell>(actions);
        return cell ? std::optional(cell->cell.row) : std::nullopt;
    };
    CHECK(!selected(panel.ui.press(Key::right)));
    panel.ui.press(Key::tab);
    CHECK(selected(panel.ui.press(Key::right)) == 2);
    CHECK(selected(panel.ui.press(Key::left)) == 0);
    panel.ui.press(Key::escape);
    CHECK(!selected(panel.ui.press(Key::right)));
}

TEST_CASE("the doors are offered under the weights until one of them is gone through") {
    const view::AppState with_start_buttons =
        state_after({view::GoToStage{Stage::weights}, view::ShowStartButtons{true}});
    CHECK(build_step_view(with_start_buttons).start_buttons);
    CHECK_FALSE(
        build_step_view(state_after({view::ShowStartButtons{true}})).start_buttons);  // at X
    for (const auto& [x, start_button] :
         {std::pair{160.0F, 0}, {400.0F, 1}, {560.0F, 2}, {760.0F, 3}}) {
        App app;
        app.set(with_start_buttons, 30);
        app.ui.click({x + 30.0F, 936.0F});
        app.ui.frames(2);
        CAPTURE(start_button);
        CHECK_FALSE(step_look(app.state).start_buttons);
        if (start_button == 0) CHECK(step_look(app.state).playing);
        if (start_button == 0) CHECK(app.state.stage == Stage::x);
        if (start_button == 1) CHECK(app.state.workspace == "saturation");
        if (start_button == 2) CHECK(app.state.prompt.has_value());
        if (start_button == 3) CHECK(app.state.tour.on);
    }
    App by_key;
    by_key.set(with_start_buttons, 30);
    CHECK(by_key.pressed(Key::space).stage == Stage::x);
}

TEST_CASE("a click on a picture shows that head; a single head has no strip") {
    const auto view =
        build_heads_view(state_after({view::SetHeads{4}, view::GoToStage{Stage::weights}}));
    NullUi ui({96.0F, 700.0F});
    ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
        CHECK(ui::heads_width(view, frame) <= 96.0F);
        CHECK(ui::heads_width({}, frame) == 0.0F);
        ui::draw_heads(view, frame, out);
    });
    ui.frames(2);
    std::vector<Index> shown;
    for (float y = 20.0F; y < 700.0F; y += 20.0F) {
        const view::Actions actions = ui.click({48.0F, y});
        if (const auto* head = last<view::ShowHead>(actions)) shown.push_back(head->head);
    }
    CHECK(std::ranges::is_sorted(shown));
    for (Index head = 0; head < 4; ++head) CHECK(std::ranges::count(shown, head) > 0);
}

TEST_CASE("the pictures of 16 heads stand in a low window without a scroll bar") {
    const auto view =
        build_heads_view(state_after({view::SetHeads{16}, view::GoToStage{Stage::weights}}));
    for (const float height : {360.0F, 480.0F, 800.0F}) {
        CAPTURE(height);
        NullUi ui({96.0F, height});
        float beyond = 0.0F;
        ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
            ui::draw_heads(view, frame, out);
            beyond = ImGui::GetScrollMaxY();
        });
        ui.frames(3);
        CHECK(beyond <= 1.0F);
    }
}

TEST_CASE("P presents: no rail and no ribbon; arrow keys step, Escape goes back") {
    App app;
    CHECK(app.pressed(Key::p).presenter);
    app.ui.frames(2);
    CHECK(app.pressed(Key::right).stage == Stage::q);
    for (float y = 20.0F; y < 400.0F; y += 30.0F) app.ui.click({40.0F, y});
    CHECK(app.state.workspace == "step");
    CHECK(app.pressed(Key::digit2).workspace == "saturation");
    CHECK(app.state.presenter);
    CHECK(app.pressed(Key::f1).show_help);
    CHECK(!app.pressed(Key::escape).show_help);
    CHECK(app.state.presenter);
    CHECK(!app.pressed(Key::escape).presenter);
    app.ui.press(Key::p);
    CHECK(!app.pressed(Key::p).presenter);
}

TEST_CASE("every stage and workspace is drawn while presenting, at every size and scale") {
    for (const ImVec2 size : {ImVec2{1280.0F, 720.0F}, ImVec2{1920.0F, 1080.0F}}) {
        App app(size);
        view::apply(app.state, view::SetPresenter{true});
        for (const view::WorkspaceInfo* workspace : app.state.workspaces) {
            app.act({go_to(*workspace)});
            CHECK(app.ui.drawn() > 0);
        }
    }
}
