#include "app/common/parts.h"
#include "app/workspaces/kinds/actions.h"
#include "app/workspaces/kinds/state.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::kinds_controls, view::kinds_look;

namespace {

struct Kinds : App {
    explicit Kinds(ImVec2 size = test::kAppSize) : App(size) {
        ui.press(Key::digit4);
        ui.frames(3);
    }
};

}  // namespace

TEST_CASE("key 4 shows Variants; a click on a weight selects the pair") {
    Kinds app;
    CHECK(app.state.workspace == "kinds");
    REQUIRE(kinds_look(app.state).result);
    const auto first = click_until<view::SelectKindsPair>(app.ui, {160, 300}, {420, 640}, {40, 40});
    REQUIRE(first);
    REQUIRE(kinds_look(app.state).selected);
    CHECK(kinds_look(app.state).selected->row == first->row);
    CHECK(click_until<view::SelectKindsPair>(app.ui, {260, 560}, {500, 760}, {30, 30}));   // of B
    CHECK(click_until<view::SelectKindsPair>(app.ui, {800, 300}, {1100, 600}, {30, 30}));  // B − A
}

TEST_CASE("keys: N the next pair, X swaps, C copies, O the online softmax") {
    Kinds app;
    CHECK_FALSE(kinds_controls(app.pressed(Key::n)).b.scaled);
    CHECK_FALSE(kinds_controls(app.pressed(Key::x)).a.scaled);
    CHECK(kinds_controls(app.state).b.scaled);
    app.ui.press(Key::c);
    CHECK(kinds_controls(app.state).a == kinds_controls(app.state).b);
    CHECK(kinds_controls(app.pressed(Key::z, true)).b.scaled);
    CHECK(kinds_look(app.pressed(Key::o)).online);
    app.ui.press(Key::right);
    CHECK(kinds_look(app.pressed(Key::right)).taken == 2);
    CHECK(kinds_look(app.pressed(Key::left)).taken == 1);
    CHECK(kinds_look(app.pressed(Key::end)).taken == 2);
    CHECK(kinds_controls(app.pressed(Key::minus)).chunk == 1);
    CHECK(kinds_look(app.state).taken == 0);
    CHECK(kinds_controls(app.pressed(Key::b)).online == view::KindsSide::b);
    CHECK(kinds_look(app.pressed(Key::space)).playing);
    CHECK_FALSE(kinds_look(app.pressed(Key::escape)).online);
}

TEST_CASE("Shift and arrows move the pair; a toggle of B and a list of A change that side alone") {
    Kinds app;
    view::apply(app.state, view::SelectKindsPair{1, 1});
    app.ui.press(Key::down, false, true);
    CHECK(kinds_look(app.pressed(Key::right, false, true)).selected == large::Cell{2, 2});
    app.act({view::ShowMore{true}}, 3);
    REQUIRE(ImGui::FindWindowByName("rest"));
    const ImRect settings = ImGui::FindWindowByName("rest")->Rect();
    const auto toggled =
        click_until<view::SetKind>(app.ui, settings.GetCenter(), settings.Max, {14, 14});
    REQUIRE(toggled);
    CHECK(toggled->side == view::KindsSide::b);
    CHECK(kinds_controls(app.state).a == attn::AttentionKind{});
}

TEST_CASE("both views are drawn at every size, of every pair, and where nothing can be compared") {
    for (const ImVec2 size : test::kAppSizes) {
        Kinds app(size);
        for (const view::KindsPreset& preset : view::kinds_presets()) {
            app.act({view::ChooseKinds{std::string(preset.key)}});
            CHECK(app.ui.drawn() > 500);
        }
        app.ui.press(Key::o);
        for (int n = 0; n < 4; ++n) {
            app.ui.press(Key::right);
            CHECK(app.ui.drawn() > 500);
        }
        app.act({view::LoadPreset{"empty"}});
        CHECK(app.ui.drawn() > 100);
    }
}
