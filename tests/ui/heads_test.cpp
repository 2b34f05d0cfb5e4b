#include "app/common/actions.h"
#include "app/common/document/actions.h"
#include "app/common/document/document.h"
#include "app/common/document/intervention_effects.h"
#include "app/files/open.h"
#include "app/workspaces/heads/actions.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::heads_look, view::Key;

namespace {

struct Heads : App {
    explicit Heads(ImVec2 size = test::kAppSize) : App(size) {
        view::apply(state, view::LoadPreset{"three-heads"});
        ui.press(Key::digit3);
        ui.frames(1);
        ui.press(Key::h);
        ui.frames(3);
    }
};

}  // namespace

TEST_CASE("keys 3 H show Heads; a click on a picture chooses that head, one on a weight the pair") {
    Heads app;
    CHECK(app.state.workspace == "heads");
    REQUIRE(heads_look(app.state).result);
    view::apply(app.state, view::ShowHead{2});
    const auto chosen = click_until<view::ShowHead>(app.ui, {150, 100}, {500, 400}, {20, 20});
    REQUIRE(chosen);
    CHECK(app.state.head == chosen->head);
    const auto pair = click_until<view::SelectHeadsPair>(app.ui, {700, 250}, {1150, 900}, {30, 30});
    REQUIRE(pair);
    CHECK(heads_look(app.state).pair == large::Cell{pair->row, pair->column});
    view::apply(app.state, view::GoToStage{Stage::weights});
    CHECK(app.state.selected == view::CellRef{Stage::weights, pair->row, pair->column});
}

TEST_CASE("the pointer over a small picture tells of that head") {
    Heads app;
    bool reported = false;
    for (float x = 150; x < 500 && !reported; x += 20) {
        app.ui.move_to({x, 200});
        app.ui.frames(2);
        reported = heads_look(app.state).hovered.has_value();
    }
    CHECK(reported);
    CHECK_FALSE(view::build_all_heads_view(app.state).hover_text.empty());
    app.ui.move_to({1590, 990});
    app.ui.frames(2);
    CHECK_FALSE(heads_look(app.state).hovered);
}

TEST_CASE("keys: arrows next head, Space pins, X swaps, N sorts, O colours, C copies, Esc unpins") {
    Heads app;
    CHECK(app.state.head == 0);
    CHECK(app.pressed(Key::right).head == 1);
    app.ui.press(Key::left);
    CHECK(heads_look(app.pressed(Key::space)).pinned[0] == HeadPlace{0, 0});
    app.ui.press(Key::right);
    CHECK(heads_look(app.pressed(Key::space)).pinned[1] == HeadPlace{0, 1});
    CHECK(heads_look(app.pressed(Key::x)).pinned[0] == HeadPlace{0, 1});
    CHECK_FALSE(heads_look(app.pressed(Key::escape)).pinned[0]);
    CHECK(heads_look(app.pressed(Key::n)).sort == "entropy");
    CHECK(heads_look(app.pressed(Key::n, false, true)).sort.empty());
    CHECK(heads_look(app.pressed(Key::n, false, true)).sort == "norm_share");
    CHECK(heads_look(app.pressed(Key::o)).own_range);
    CHECK(heads_look(app.pressed(Key::down, false, true)).pair == large::Cell{1, 0});
    REQUIRE(app.pressed(Key::c).effects.clipboard);
    CHECK(app.state.effects.clipboard->find("layer,head,label") == 0);
}

TEST_CASE("two pinned: the pair under the pointer is the same in all three matrices") {
    Heads app;
    app.act({view::PinHead{0, 0, true}, view::PinHead{0, 2, true}});
    CHECK(click_until<view::SelectHeadsPair>(app.ui, {560, 200}, {1180, 900}, {30, 30}));
    CHECK(heads_look(app.state).hovered_pair);
}

TEST_CASE("every size draws, sorted and compared, dark and light") {
    for (const ImVec2 size : {ImVec2{1000, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}}) {
        Heads app(size);
        for (const view::Action& action : view::Actions{
                 view::SortHeads{"previous"}, view::PinHead{0, 0, true}, view::PinHead{0, 1, true},
                 view::SetTheme{view::ThemeName::light}, view::SetPresenter{true}}) {
            app.act({action});
            CHECK(app.ui.drawn() > 1000);
        }
    }
}

TEST_CASE("Open translate shows the model's alignment by the clearest head of its last layer") {
    Heads app;
    const auto opened = click_until<view::OpenFile>(app.ui, {app.left() + 12, 24},
                                                    {app.left() + 300, 40}, {12, 20});
    REQUIRE(opened);
    CHECK(opened->path == "translate");
    const view::Opener open = files::opener(backends());
    view::answer_all(app.state, open);
    app.ui.frames(3);
    CHECK(app.state.workspace == "heads");
    CHECK(heads_look(app.state).form == view::HeadForm::alignment);
    CHECK(app.state.document().layer == 1);
    const view::AllHeadsView view = view::build_all_heads_view(app.state);
    REQUIRE(view.alignment);
    const auto& lines = view.alignment->lines;
    CHECK(lines.keys ==
          std::vector<std::string>{"the", "black", "cat", "sees", "a", "red", "house"});
    CHECK(lines.queries ==
          std::vector<std::string>{"le", "chat", "noir", "voit", "une", "maison", "rouge", "."});
    CHECK(app.state.head == 3);
    CHECK(view.point ==
          "L1 H3 joins 7 of 8 target words to 6 source words with a weight above 0.5; 3 pairs of "
          "lines cross.");
    CHECK(view.answer.starts_with(
        "Without L1 H3 (its output set to 0), the probability of “noir”, the most likely answer at "
        "“chat”, goes from"));
    const auto pair = click_until<view::SelectHeadsPair>(app.ui, {500, 200}, {1200, 300}, {30, 20});
    REQUIRE(pair);
    CHECK(heads_look(app.state).pair == large::Cell{pair->row, pair->column});
    // it is shown so once
    app.act({view::SetHeadForm{"matrix"}, view::ShowHead{0, {}, 0}});
    CHECK(heads_look(app.state).form == view::HeadForm::matrix);
}
