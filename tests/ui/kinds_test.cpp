#include <doctest/doctest.h>

#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/compute.h"
#include "app/workspaces/kinds/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::Key;
using view::kinds_controls;
using view::kinds_look;

namespace {

struct Kinds : App {
    explicit Kinds(ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        ui.press(Key::digit5);
        ui.frames(3);
    }
};

/// Presses the mouse at points of a lattice until an action of that type comes.
template <class A>
std::optional<A> click_until(Kinds& app, ImVec2 low, ImVec2 high, float step) {
    for (float y = low.y; y < high.y; y += step)
        for (float x = low.x; x < high.x; x += step) {
            const view::Actions actions = app.ui.click({x, y});
            if (const A* found = last<A>(actions)) return *found;
        }
    return std::nullopt;
}

}  // namespace

TEST_CASE("key 5 shows Kinds; a click on a weight selects the pair") {
    Kinds app;
    CHECK(app.state.workspace == "kinds");
    REQUIRE(kinds_look(app.state).result);
    const auto first = click_until<view::SelectKindsPair>(app, {160, 300}, {420, 640}, 40.0F);
    REQUIRE(first);
    REQUIRE(kinds_look(app.state).selected);
    CHECK(kinds_look(app.state).selected->row == first->row);
    CHECK(click_until<view::SelectKindsPair>(app, {560, 400}, {700, 600}, 30.0F));    // of B
    CHECK(click_until<view::SelectKindsPair>(app, {1000, 400}, {1200, 600}, 30.0F));  // of B − A
}

TEST_CASE("keys: N the next pair, X swaps, C copies, O the online softmax") {
    Kinds app;
    app.ui.press(Key::n);
    CHECK_FALSE(kinds_controls(app.state).b.scaled);
    app.ui.press(Key::x);
    CHECK_FALSE(kinds_controls(app.state).a.scaled);
    CHECK(kinds_controls(app.state).b.scaled);
    app.ui.press(Key::c);
    CHECK(kinds_controls(app.state).a == kinds_controls(app.state).b);
    app.ui.press(Key::z, true);
    CHECK(kinds_controls(app.state).b.scaled);
    app.ui.press(Key::o);
    CHECK(kinds_look(app.state).online);
    app.ui.press(Key::right);
    app.ui.press(Key::right);
    CHECK(kinds_look(app.state).taken == 2);
    app.ui.press(Key::left);
    CHECK(kinds_look(app.state).taken == 1);
    app.ui.press(Key::end);
    CHECK(kinds_look(app.state).taken == 2);
    app.ui.press(Key::minus);
    CHECK(kinds_controls(app.state).chunk == 1);
    CHECK(kinds_look(app.state).taken == 0);
    app.ui.press(Key::b);
    CHECK(kinds_controls(app.state).online == view::KindsSide::b);
    app.ui.press(Key::space);
    CHECK(kinds_look(app.state).playing);
    app.ui.press(Key::escape);
    CHECK_FALSE(kinds_look(app.state).online);
}

TEST_CASE("Shift and arrows move the pair") {
    Kinds app;
    view::apply(app.state, view::SelectKindsPair{1, 1});
    app.ui.press(Key::down, false, true);
    app.ui.press(Key::right, false, true);
    CHECK(kinds_look(app.state).selected == large::Cell{2, 2});
}

TEST_CASE("a toggle of B and a list of A change that side alone") {
    Kinds app;
    const auto toggled = click_until<view::SetKind>(app, {700, 60}, {1250, 130}, 14.0F);
    REQUIRE(toggled);
    CHECK(toggled->side == view::KindsSide::b);
    CHECK(kinds_controls(app.state).a == attn::AttentionKind{});
}

TEST_CASE("both views are drawn at every size, of every pair, and where nothing can be compared") {
    for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{2560, 1440}, ImVec2{640, 400}}) {
        Kinds app(size);
        for (const view::KindsPreset& preset : view::kinds_presets()) {
            view::apply(app.state, view::ChooseKinds{std::string(preset.key)});
            app.ui.frames(2);
            CHECK(app.ui.drawn() > 500);
        }
        app.ui.press(Key::o);
        for (int n = 0; n < 4; ++n) {
            app.ui.press(Key::right);
            CHECK(app.ui.drawn() > 500);
        }
        view::apply(app.state, view::LoadPreset{"empty"});
        app.ui.frames(2);
        CHECK(app.ui.drawn() > 100);
    }
}
