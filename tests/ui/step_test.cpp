// What stands around the canvas of the Step workspace: sentence, heads; and presenting.

#include "app/common/workspace.h"
#include "app/workspaces/step/draw/heads.h"
#include "app/workspaces/step/draw/sentence.h"
#include "app/workspaces/step/draw/sentence_layout.h"
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

view::AppState with_words(int count, Stage stage) {
    std::string sentence;
    for (int n = 0; n < count; ++n) sentence += "word" + std::to_string(n) + " ";
    return state_after({view::SetSentence{sentence}, view::GoToStage{stage}});
}

/// The sentence of one state at the top left of a window.
struct Sentence {
    view::SentenceView view;
    std::optional<view::CellRef> hovered;
    NullUi ui;

    explicit Sentence(const view::AppState& state, ImVec2 size = {1000.0F, 1000.0F})
        : view(build_sentence_view(state)), ui(size) {
        ui.show_in_window([this](const ui::Frame& frame, view::Actions& out) {
            hovered = ui::draw_sentence(view, frame, out);
        });
        ui.frames(2);
    }
    /// Where a word is drawn, found by looking around.
    ImVec2 find(const view::CellRef& cell) {
        for (float y = 4.0F; y < 90.0F; y += 6.0F)
            for (float x = 4.0F; x < 900.0F; x += 8.0F) {
                ui.move_to({x, y});
                if (hovered == cell) return {x, y};
            }
        FAIL("no word stands for that cell");
        return {};
    }
};

ui::SentenceLayout layout_of(const view::SentenceView& view, float width, float height) {
    ui::SentenceLayout layout;
    NullUi ui({width, height});
    ui.show_in_window([&](const ui::Frame& frame, view::Actions&) {
        layout = ui::lay_out_sentence(view, frame, width);
    });
    ui.frame();
    return layout;
}

}  // namespace

TEST_CASE("pointing at a word looks at its row, a click selects what it looks at most") {
    Sentence sentence(with_words(4, Stage::weights));
    const auto cell = sentence.view.queries.chips[2].cell;
    REQUIRE(cell);
    CHECK(cell->row == 2);
    const ImVec2 at = sentence.find(*cell);
    CHECK(said<view::SelectCell>(sentence.ui.click(at)).cell == *cell);
}

TEST_CASE("arcs are drawn from the weights on, never before") {
    const int before = Sentence(with_words(4, Stage::masked)).ui.drawn();
    const int after = Sentence(with_words(4, Stage::weights)).ui.drawn();
    CHECK(after > before + 3 * 24);  // three arcs at least, of as many points
}

TEST_CASE(
    "the sentence takes 72 pixels at most, 44 in a very low window, the same at every stage") {
    for (const int count : {1, 4, 12, 20, 40, 64})
        for (const ImVec2 window :
             {ImVec2{1040.0F, 1000.0F}, ImVec2{800.0F, 720.0F}, ImVec2{800.0F, 600.0F}}) {
            const float most = window.y < 640.0F ? 44.0F : 72.0F;
            const float first =
                layout_of(build_sentence_view(with_words(count, Stage::x)), window.x, window.y)
                    .height;
            CHECK(first <= most);
            for (const Stage stage : {Stage::k, Stage::scores, Stage::weights, Stage::output}) {
                const auto view = build_sentence_view(with_words(count, stage));
                CHECK(layout_of(view, window.x, window.y).height == first);
            }
        }
}

TEST_CASE("words stand inside, apart from each other, and their letters are not small") {
    for (const int count : {4, 20, 40, 64})
        for (const float width : {400.0F, 800.0F, 1040.0F}) {
            const auto layout =
                layout_of(build_sentence_view(with_words(count, Stage::weights)), width, 1000.0F);
            CHECK(layout.font.px >= 11.0F);
            std::vector<ui::ChipPlace> shown;
            for (const ui::ChipPlace& chip : layout.queries)
                if (!chip.is_empty()) shown.push_back(chip);
            CHECK(shown.size() >= 4);
            const bool all = shown.size() == layout.queries.size();
            CHECK(layout.more.empty() == all);  // "…" where words are left out
            for (std::size_t n = 0; n < shown.size(); ++n) {
                CHECK(shown[n].high.x > shown[n].low.x);
                CHECK(shown[n].high.x <= width + 0.5F);
                if (n == 0) continue;
                CHECK((shown[n - 1].high.x <= shown[n].low.x ||
                       shown[n - 1].high.y <= shown[n].low.y));
            }
        }
}

TEST_CASE("Tab reaches the sentence once, and the arrow keys go from word to word") {
    const auto view = build_sentence_view(
        state_after({view::GoToStage{Stage::weights}, view::SelectCell{{Stage::weights, 1, 0}}}));
    test::Panel panel(
        [&](const ui::Frame& frame, view::Actions& out) { draw_sentence(view, frame, out); });
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
