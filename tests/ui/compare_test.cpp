#include <doctest/doctest.h>

#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::compare_look;
using view::Key;

TEST_CASE("B pins in Step, F3 compares; Space blinks, V shows both, arrows select in both") {
    App app;
    app.ui.press(Key::b);
    REQUIRE(compare_look(app.state).pins.size() == 1);
    view::apply(app.state, view::SetScaling{false});
    app.ui.press(Key::f3);
    app.ui.frames(2);
    CHECK(app.state.workspace == "compare");
    CHECK(view::build_compare_view(app.state).grids.size() == 3);
    app.ui.press(Key::space);
    CHECK(compare_look(app.state).blink == 1);
    app.ui.press(Key::space);
    CHECK(compare_look(app.state).blink == 0);
    app.ui.press(Key::v);
    CHECK_FALSE(compare_look(app.state).blink);
    const large::Cell before = compare_look(app.state).cell;
    app.ui.press(Key::down);
    CHECK(compare_look(app.state).cell == large::Cell{before.row + 1, before.column});
}

TEST_CASE("a click on a matrix selects the pair in all of them") {
    App app;
    app.ui.press(Key::f3);
    app.ui.press(Key::b);
    app.ui.frames(2);
    std::optional<view::SelectCompareCell> found;
    for (float y = 250; y < 700 && !found; y += 30)
        for (float x = 200; x < 1100 && !found; x += 30) {
            const view::Actions actions = app.ui.click({x, y});
            if (const auto* select = last<view::SelectCompareCell>(actions)) found = *select;
        }
    REQUIRE(found);
    CHECK(compare_look(app.state).cell == large::Cell{found->row, found->column});
}
