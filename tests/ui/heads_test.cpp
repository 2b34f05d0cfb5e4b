#include <doctest/doctest.h>

#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/view.h"
#include "app/workspaces/step/actions.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::heads_look;
using view::Key;

namespace {

struct Heads : App {
    explicit Heads(ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        view::apply(state, view::LoadPreset{"three-heads"});
        ui.press(Key::digit8);
        ui.frames(3);
    }
};

/// Presses the mouse at points of a lattice until an action of that type comes.
template <class A>
std::optional<A> click_until(Heads& app, ImVec2 low, ImVec2 high, float step) {
    for (float y = low.y; y < high.y; y += step)
        for (float x = low.x; x < high.x; x += step) {
            const view::Actions actions = app.ui.click({x, y});
            if (const A* found = last<A>(actions)) return *found;
        }
    return std::nullopt;
}

}  // namespace

TEST_CASE(
    "key 8 shows Heads; a click on a small picture chooses that head, one on a weight the pair") {
    Heads app;
    CHECK(app.state.workspace == "heads");
    REQUIRE(heads_look(app.state).result);
    view::apply(app.state, view::ShowHead{2});
    const auto chosen = click_until<view::ShowHead>(app, {150, 100}, {500, 400}, 20.0F);
    REQUIRE(chosen);
    CHECK(app.state.head == chosen->head);
    const auto pair = click_until<view::SelectHeadsPair>(app, {700, 250}, {1150, 900}, 30.0F);
    REQUIRE(pair);
    CHECK(heads_look(app.state).pair == large::Cell{pair->row, pair->column});
    view::apply(app.state, view::GoToStage{Stage::weights});
    CHECK(app.state.selected == view::CellRef{Stage::weights, pair->row, pair->column});
}

TEST_CASE("the pointer over a small picture tells of that head") {
    Heads app;
    bool told = false;
    for (float x = 150; x < 500 && !told; x += 20) {
        app.ui.move_to({x, 200});
        app.ui.frames(2);
        told = heads_look(app.state).hovered.has_value();
    }
    CHECK(told);
    CHECK_FALSE(view::build_all_heads_view(app.state).hover_words.empty());
    app.ui.move_to({1590, 990});
    app.ui.frames(2);
    CHECK_FALSE(heads_look(app.state).hovered);
}

TEST_CASE(
    "keys: arrows the next head, Space pins, X swaps, N sorts, O colours, C copies, Esc unpins") {
    Heads app;
    CHECK(app.state.head == 0);
    app.ui.press(Key::right);
    CHECK(app.state.head == 1);
    app.ui.press(Key::left);
    app.ui.press(Key::space);
    CHECK(heads_look(app.state).pinned[0] == HeadPlace{0, 0});
    app.ui.press(Key::right);
    app.ui.press(Key::space);
    CHECK(heads_look(app.state).pinned[1] == HeadPlace{0, 1});
    app.ui.press(Key::x);
    CHECK(heads_look(app.state).pinned[0] == HeadPlace{0, 1});
    app.ui.press(Key::escape);
    CHECK_FALSE(heads_look(app.state).pinned[0]);
    app.ui.press(Key::n);
    CHECK(heads_look(app.state).sort == "entropy");
    app.ui.press(Key::n, false, true);
    CHECK(heads_look(app.state).sort.empty());
    app.ui.press(Key::n, false, true);
    CHECK(heads_look(app.state).sort == "norm_share");
    app.ui.press(Key::o);
    CHECK(heads_look(app.state).own_range);
    app.ui.press(Key::down, false, true);
    CHECK(heads_look(app.state).pair == large::Cell{1, 0});
    app.ui.press(Key::c);
    REQUIRE(app.state.effects.clipboard);
    CHECK(app.state.effects.clipboard->find("layer,head,label") == 0);
}

TEST_CASE("two pinned: the pair under the pointer is the same in all three matrices") {
    Heads app;
    view::apply(app.state, view::PinHead{0, 0, true});
    view::apply(app.state, view::PinHead{0, 2, true});
    app.ui.frames(2);
    CHECK(click_until<view::SelectHeadsPair>(app, {560, 200}, {1180, 900}, 30.0F));
    CHECK(heads_look(app.state).hovered_pair);
}

TEST_CASE("every size draws, sorted and compared, dark and light") {
    for (const ImVec2 size : {ImVec2{1000, 600}, ImVec2{1280, 720}, ImVec2{2560, 1440}}) {
        Heads app(size);
        for (const view::Action& action : view::Actions{
                 view::SortHeads{"previous"}, view::PinHead{0, 0, true}, view::PinHead{0, 1, true},
                 view::SetTheme{view::ThemeName::light}, view::SetPresenter{true}}) {
            view::apply(app.state, action);
            app.ui.frames(2);
            CHECK(app.ui.drawn() > 1000);
        }
    }
}
