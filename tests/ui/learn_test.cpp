#include "app/common/actions.h"
#include "app/common/inspector.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/learn/recording.h"
#include "app/workspaces/learn/view.h"
#include "core/train/own_data.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::learn_look;

namespace {

struct Learn : App {
    Learn() {
        draw_frames({view::SetWorkspace{"learn"}, view::SetLearnField{"a", "tokens", "12"},
                     view::SetLearnField{"a", "d_model", "8"},
                     view::SetLearnField{"a", "batch", "4"},
                     view::SetLearnField{"a", "steps", "6"}});
    }
};

}  // namespace

TEST_CASE("Space trains to the steps of the settings, and on; arrows look back; S switches there") {
    Learn app;
    CHECK(learn_look(app.pressed(Key::space)).plan->until == 6);
    app.draw_frames();
    CHECK(view::learn_steps_done(app.state) == 6);
    CHECK(learn_look(app.pressed(Key::left)).shown.step == 5);
    app.draw_frames();
    REQUIRE(learn_look(app.pressed(Key::s)).plan->switches[0].size() == 1);
    CHECK(learn_look(app.state).plan->switches[0][0] == train::Switch{5, -1, false});
    app.draw_frames();
    CHECK(learn_look(app.pressed(Key::space)).plan->until == 12);
}

TEST_CASE("a drag over the curve goes to a kept moment, and the right end to the newest") {
    Learn app;
    app.ui.press(Key::space);
    app.draw_frames();
    std::optional<view::ShowLearnStep> found;
    for (float y = 250; y < 800 && !found; y += 50) {
        const view::Actions actions = app.ui.drag({app.left() + 96, y}, {app.left() + 176, y});
        if (const auto* shown = last<view::ShowLearnStep>(actions)) found = *shown;
    }
    REQUIRE(found);
    CHECK(learn_look(app.state).shown.step);
    CHECK(*learn_look(app.state).shown.step < 6);
}

TEST_CASE("a click on a map selects its row in the panel") {
    Learn app;
    app.ui.press(Key::space);
    app.draw_frames({view::ShowLearnPage{view::LearnPage::settings}});
    const auto found =
        test::click_until<view::SelectLearnCell>(app.ui, {580, 180}, {1200, 560}, {24, 24});
    REQUIRE(found);
    CHECK(learn_look(app.state).cell == large::Cell{found->row, found->column});
    CHECK(learn_look(app.state).page == view::LearnPage::row);
    CHECK_FALSE(view::learn_inspector(app.state).empty);
}

TEST_CASE("a click on a row of one word in every head shows that head") {
    App app;
    app.draw_frames({view::SetWorkspace{"learn"}, view::LoadExperiment{"pronouns"},
                     view::SetLearnField{"a", "d_model", "8"},
                     view::SetLearnField{"a", "batch", "4"}, view::TrainTo{4}});
    const auto found =
        test::click_until<view::ShowLearnHead>(app.ui, {580, 180}, {1200, 560}, {24, 24});
    REQUIRE(found);
    CHECK(learn_look(app.state).layer == found->layer);
    CHECK(learn_look(app.state).head == found->head);
    CHECK(learn_look(app.state).cell.row == 7);  // still “it”
    app.ui.press(Key::w);
    app.draw_frames();
    CHECK(learn_look(app.state).picture == view::LearnPicture::head);
}

TEST_CASE("the panel of own lines trains on them and finds the lines of an answer") {
    App app;
    app.draw_frames({view::SetWorkspace{"learn"}, view::SetOwnData{"a b c\na c b"},
                     view::ShowLearnPage{view::LearnPage::lines}});
    app.draw_frames();
    CHECK(app.state.message.severity != view::Severity::error);
    CHECK(view::learn_steps_done(app.state) == 200);
    app.draw_frames();  // the models without each line train by themselves
    REQUIRE(view::shown_influences(app.state));
    CHECK(view::shown_influences(app.state)->lines.size() == 2);
}

TEST_CASE("Learn opens on the recorded run; Space and a drag over its curve do what they say") {
    App app;
    app.draw_frames({view::SetWorkspace{"learn"}});
    const Index rest = view::shown_learn_step(app.state);
    CHECK(rest < 500);
    CHECK_FALSE(learn_look(app.state).plan);
    std::optional<view::ShowLearnStep> found;
    for (float y = 250; y < 800 && !found; y += 50) {
        const view::Actions actions = app.ui.drag({app.left() + 96, y}, {app.left() + 176, y});
        if (const auto* shown = last<view::ShowLearnStep>(actions)) found = *shown;
    }
    REQUIRE(found);
    CHECK(view::shown_learn_step(app.state) != rest);
    CHECK_FALSE(learn_look(app.state).plan);
    const Index paused = view::shown_learn_step(app.state);
    app.act({view::Tick{0.01}});  // time passes here
    app.ui.press(Key::space);
    CHECK(view::is_replaying(app.state));
    CHECK(view::shown_learn_step(app.state) >= paused);
    CHECK_FALSE(learn_look(app.state).plan);
    app.act({view::TrainRecordedRun{}});
    REQUIRE(learn_look(app.state).plan);
    CHECK(learn_look(app.state).plan->until == 500);
    CHECK(learn_look(app.state).plan->controls.a.task == train::Task::marked);
}
