#include "app/common/actions.h"
#include "app/workspaces/heads/actions.h"
#include "core/narrow.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App, attn::test::child, view::Key;

TEST_CASE("a wide window has the inspector beside the canvas, and I gives its room to the canvas") {
    App app;
    const ImGuiWindow* side = child("side");
    REQUIRE(side);
    CHECK(side->Size.x <= 320.0F);
    const float canvas = child("canvas")->Size.x;
    CHECK(child("canvas")->Rect().Max.x <= side->Pos.x);
    app.ui.press(Key::i);
    CHECK(child("side") == nullptr);
    CHECK(child("canvas")->Size.x > canvas + 250.0F);
    app.ui.press(Key::i);
    CHECK(child("side"));
    CHECK_FALSE(app.state.inspector);
}

TEST_CASE("a narrow window has it as a drawer, which pushes the canvas aside") {
    App app({1280.0F, 720.0F});
    app.act({view::SelectCell{{Stage::x, 1, 1}}});
    CHECK(app.state.narrow);
    CHECK(child("side") == nullptr);
    const ImRect canvas = child("canvas")->Rect();
    app.ui.press(Key::i);
    REQUIRE(child("side"));
    CHECK(child("canvas")->Rect().Min.x == canvas.Min.x);
    CHECK(child("canvas")->Rect().Max.x <= child("side")->Pos.x);
    const ImVec2 inside{child("side")->Pos.x + 100.0F, 600.0F};
    app.ui.click(inside);
    CHECK(app.state.selected == view::CellRef{Stage::x, 1, 1});
    app.ui.press(Key::escape);
    CHECK(child("side") == nullptr);
    CHECK(app.state.selected);
}

TEST_CASE("a click on a number opens it in a narrow window: in a wide one it stays hidden") {
    App app("heads", {1280.0F, 720.0F});
    REQUIRE(app.state.narrow);
    REQUIRE(child("side") == nullptr);
    REQUIRE(child("hero"));
    const ImRect hero = child("hero")->Rect();
    REQUIRE(
        attn::test::click_until<view::SelectHeadsPair>(app.ui, hero.Min, hero.Max, {20.0F, 20.0F}));
    app.ui.frames(2);
    CHECK(child("side"));
    App wide("heads");
    wide.ui.press(Key::i);
    const ImRect large = child("hero")->Rect();
    REQUIRE(attn::test::click_until<view::SelectHeadsPair>(wide.ui, large.Min, large.Max,
                                                           {20.0F, 20.0F}));
    wide.ui.frames(2);
    CHECK(child("side") == nullptr);
}

TEST_CASE("the handle shows and hides it") {
    App app({1280.0F, 720.0F});
    const ImVec2 handle{1272.0F, 340.0F};
    app.ui.click(handle);
    CHECK(child("side"));
    app.ui.click(handle);
    CHECK(child("side") == nullptr);
}

TEST_CASE("a workspace without an inspector has no handle, and I does nothing there") {
    App app({1280.0F, 720.0F});
    app.act({view::SetWorkspace{"saturation"}});
    CHECK_FALSE(app.pressed(Key::i).inspector);
}

TEST_CASE("the inspector's links are stops of Tab: Enter goes to the stage of a source") {
    App app;
    app.act({view::GoToStage{Stage::scores}, view::SelectCell{{Stage::scores, 1, 2}}});
    bool went = false;
    for (int n = 0; n < 90 && !went; ++n) {
        app.ui.press(Key::tab);
        // the controls and the ribbon, the rail
        if (n < 24 + static_cast<int>(app.state.workspaces.size())) continue;
        app.ui.press(Key::enter);
        went = app.state.selected && app.state.selected->tensor != OperandId(Stage::scores);
    }
    CHECK(went);
}
