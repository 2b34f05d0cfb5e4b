#include "app/common/document/actions.h"
#include "app/files/open.h"
#include "app/workspaces/generate/view.h"
#include "core/backend.h"
#include "tests/support/fake_text.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App, view::Key;

namespace {

struct Generate : App {
    explicit Generate(ImVec2 size = test::kAppSize) : App(size) {
        set(test::fake_writing());
        written();
    }
    void written(const view::Actions& actions = {}) {
        for (const view::Action& action : actions) view::apply(state, action);
        view::answer_all(state, test::fake_writer);
        ui.frames(2);
    }
    std::vector<Index> taken() const { return view::taken_of(state); }
    /// Of the hero, by its share.
    ImVec2 in_hero(float x, float y) const {
        const ImGuiWindow* const hero = test::child("hero");
        REQUIRE(hero);
        return {hero->Pos.x + hero->Size.x * x, hero->Pos.y + hero->Size.y * y};
    }
};

}  // namespace

TEST_CASE("a click on a candidate takes it, on a token of the text goes to its step") {
    Generate app;
    app.ui.click(app.in_hero(0.5F, 0.5F));
    REQUIRE(app.taken().size() == 1);
    app.written();
    const Index first = app.taken().front();
    app.ui.click(app.in_hero(0.5F, 0.7F));
    REQUIRE(app.taken().size() == 2);
    app.written();
    CHECK(app.taken().front() == first);
    const ImVec2 low = app.in_hero(0.0F, 0.0F);
    const auto shown = test::click_until<view::ShowGenerated>(
        app.ui, {low.x + 4, low.y + 8}, {low.x + 400, low.y + 12}, {6.0F, 8.0F});
    REQUIRE(shown);
    CHECK(shown->step == 0);
    CHECK(view::step_of(app.state) == 0);
    app.ui.click(app.in_hero(0.5F, 0.8F));
    CHECK(app.taken().size() == 1);
}

TEST_CASE("keys take, go back, play and delete") {
    Generate app;
    app.ui.press(Key::right);
    app.written();
    app.ui.press(Key::right);
    app.written();
    CHECK(app.taken().size() == 2);
    app.ui.press(Key::left);
    CHECK(view::step_of(app.state) == 1);
    app.ui.press(Key::del);
    CHECK(app.taken().size() == 1);
    app.written();
    app.ui.press(Key::space);
    CHECK(view::generate_look(app.state).playing);
    app.ui.press(Key::escape);
    CHECK_FALSE(view::generate_look(app.state).playing);
}

TEST_CASE("a click on a row of weights goes to its step") {
    Generate app;
    app.written({view::TakeToken{0, 5}});
    app.written({view::TakeToken{1, 6}});
    const ImGuiWindow* const rows = test::child("rows");
    REQUIRE(rows);
    const auto shown = test::click_until<view::ShowGenerated>(
        app.ui, {rows->Pos.x + rows->Size.x * 0.5F, rows->Pos.y},
        {rows->Pos.x + rows->Size.x * 0.5F + 1, rows->Pos.y + rows->Size.y * 0.8F}, {8.0F, 8.0F});
    REQUIRE(shown);
    CHECK(shown->step == 0);
}

TEST_CASE("every setting has a control that the keyboard reaches") {
    Generate app{{2560.0F, 1440.0F}};
    const view::GenerateControls first = view::generate_controls(app.state);
    const auto tabs_until = [&](auto&& found) {
        for (int n = 0; n < 40 && !found(); ++n) {
            app.ui.press(Key::tab);
            app.ui.press(Key::right);
        }
        return found();
    };
    const auto now = [&]() -> const view::GenerateControls& {
        return view::generate_controls(app.state);
    };
    CHECK(tabs_until([&] { return now().temperature != first.temperature; }));
    CHECK(tabs_until([&] { return now().top_k != first.top_k; }));
    CHECK(tabs_until([&] { return now().top_p != first.top_p; }));
    CHECK(tabs_until([&] { return now().seed != first.seed; }));
}

TEST_CASE("Generate is drawn at every size, with a model and without, at its settings' ends") {
    for (const ImVec2 size : test::kAppSizes)
        for (const double temperature :
             {view::kLeastSamplingTemperature, 1.0, view::kMostSamplingTemperature}) {
            Generate app(size);
            app.written({view::SetSamplingTemperature{temperature}, view::ShowLens{true},
                         view::TakeToken{0, 5}});
            app.written({view::SetTopP{view::kLeastTopP}});
            CHECK(app.ui.drawn() > 500);
            App toy("generate", size);
            CHECK(toy.ui.drawn() > 500);
        }
}

TEST_CASE("Open stories, then a click on a word of a continuation writes the text up to it") {
    App app("generate");
    const auto opened = test::click_until<view::OpenFile>(app.ui, {app.left() + 12, 24},
                                                          {app.left() + 300, 40}, {12, 20});
    REQUIRE(opened);
    CHECK(opened->path == "stories");
    const view::Opener open = files::opener(backends());
    view::answer_all(app.state, open);
    app.ui.frames(3);
    const view::GenerateView view = view::build_generate_view(app.state);
    REQUIRE(view.paths.size() == 3);
    CHECK(view.paths.front().tokens.front().text == "cat");
    CAPTURE(view.headline);
    CHECK(has(view.headline, "“cat”"));
    const ImGuiWindow* const hero = test::child("hero");
    REQUIRE(hero);
    const auto taken =
        test::click_until<view::TakePath>(app.ui, {hero->Pos.x + 150, hero->Pos.y + 40},
                                          {hero->Pos.x + 400, hero->Pos.y + 200}, {20, 10});
    REQUIRE(taken);
    CHECK(view::taken_of(app.state) == taken->tokens);
    view::answer_all(app.state, open);
    CHECK(view::build_generate_view(app.state).count == std::ssize(taken->tokens));
}
