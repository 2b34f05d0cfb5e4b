#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App, view::compare_look, view::Key;

TEST_CASE("B pins in Step, 4 C compares; Space blinks, V shows both, arrows select in both") {
    App app;
    REQUIRE(compare_look(app.pressed(Key::b)).pins.size() == 1);
    view::apply(app.state, view::SetScaling{false});
    app.ui.press(Key::digit4);
    app.ui.press(Key::c);
    app.ui.frames(2);
    CHECK(app.state.workspace == "compare");
    CHECK(view::build_compare_view(app.state).grids.size() == 3);
    CHECK(compare_look(app.pressed(Key::space)).blink == 1);
    CHECK(compare_look(app.pressed(Key::space)).blink == 0);
    CHECK_FALSE(compare_look(app.pressed(Key::v)).blink);
    const large::Cell before = compare_look(app.state).cell;
    CHECK(compare_look(app.pressed(Key::down)).cell == large::Cell{before.row + 1, before.column});
}

TEST_CASE("a click on a matrix selects the pair in all of them") {
    App app;
    app.ui.press(Key::digit4);
    app.ui.press(Key::c);
    app.ui.press(Key::b);
    app.ui.frames(2);
    const auto found =
        test::click_until<view::SelectCompareCell>(app.ui, {200, 250}, {1100, 700}, {30, 30});
    REQUIRE(found);
    CHECK(compare_look(app.state).cell == large::Cell{found->row, found->column});
}
