#include <doctest/doctest.h>

#include "app/window/requests.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::Key;
using view::learn_look;

namespace {

struct Learn : App {
    explicit Learn(ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        view::apply(state, view::SetWorkspace{"learn"});
        for (const auto& [field, value] :
             {std::pair{"tokens", "12"}, {"d_model", "8"}, {"batch", "4"}})
            view::apply(state, view::SetLearnField{"a", field, value});
        view::apply(state, view::SetLearnField{"a", "steps", "6"});
        settle();
    }
    void settle() {
        view::answer_all(state);
        ui.frames(2);
    }
};

}  // namespace

TEST_CASE("Space trains to the steps of the settings, and on; arrows look back; S switches there") {
    Learn app;
    app.ui.press(Key::space);
    CHECK(learn_look(app.state).plan->until == 6);
    app.settle();
    CHECK(view::learn_steps_done(app.state) == 6);
    app.ui.press(Key::left);
    CHECK(learn_look(app.state).shown.step == 5);
    app.settle();
    app.ui.press(Key::s);
    REQUIRE(learn_look(app.state).plan->switches[0].size() == 1);
    CHECK(learn_look(app.state).plan->switches[0][0] == train::Switch{5, -1, false});
    app.settle();
    app.ui.press(Key::space);
    CHECK(learn_look(app.state).plan->until == 12);
}

TEST_CASE("a drag over the curve goes to a kept moment, and the right end to the newest") {
    Learn app;
    app.ui.press(Key::space);
    app.settle();
    std::optional<view::ShowLearnStep> found;
    for (float y = 250; y < 800 && !found; y += 50) {
        const view::Actions actions = app.ui.drag({160, y}, {240, y});
        if (const auto* shown = last<view::ShowLearnStep>(actions)) found = *shown;
    }
    REQUIRE(found);
    CHECK(learn_look(app.state).shown.step);
    CHECK(*learn_look(app.state).shown.step < 6);
}

TEST_CASE("a click on a map selects its row in the panel") {
    Learn app;
    app.ui.press(Key::space);
    app.settle();
    std::optional<view::SelectLearnCell> found;
    for (float y = 180; y < 560 && !found; y += 24)
        for (float x = 580; x < 1200 && !found; x += 24) {
            const view::Actions actions = app.ui.click({x, y});
            if (const auto* select = last<view::SelectLearnCell>(actions)) found = *select;
        }
    REQUIRE(found);
    CHECK(learn_look(app.state).cell == large::Cell{found->row, found->column});
    CHECK(learn_look(app.state).page == view::LearnPage::row);
    CHECK_FALSE(view::learn_inspector(app.state).empty);
}
