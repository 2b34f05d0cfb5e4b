#include "app/common/actions.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/saturation/draw/controls.h"
#include "app/workspaces/saturation/draw/parts.h"
#include "app/workspaces/saturation/view.h"
#include "tests/ui/app.h"
#include "tests/ui/text_spy.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::saturation_controls, view::saturation_look;

namespace {

constexpr Index kFewDraws = 3;

/// Softmax alone, with its curves computed.
struct Saturation : App {
    explicit Saturation(ImVec2 size = test::kAppSize) : App(size) {
        draw_frames({view::ShowSaturationDetails{true}, view::SetWorkspace{"saturation"},
                     view::SetSaturationDraws{kFewDraws}},
                    3);
    }
};

bool is_stop(Index d_k) { return d_k == view::nearest_stop(static_cast<double>(d_k)); }

template <class T>
int count(const view::Actions& actions) {
    int found = 0;
    for (const view::Action& action : actions) found += action.is<T>() ? 1 : 0;
    return found;
}

}  // namespace

TEST_CASE("the handle is dragged from stop to stop, and the drag is one step of undo") {
    Saturation app;
    const std::size_t before = app.state.now;
    const view::Actions actions = app.ui.drag({350.0F, 420.0F}, {800.0F, 420.0F});
    CHECK(count<view::SetSaturationWidth>(actions) >= 3);
    Index widest = 0;
    for (const view::Action& action : actions)
        if (const auto* moved = action.as<view::SetSaturationWidth>()) {
            CHECK(is_stop(moved->value));
            CHECK(moved->value > widest);
            widest = moved->value;
        }
    CHECK(saturation_controls(app.state).d_k == widest);
    CHECK(count<view::BeginGesture>(actions) == 1);
    CHECK(count<view::EndGesture>(actions) == 1);
    CHECK(app.state.now == before + 1);
}

TEST_CASE("a click under the plot pins; keys go from stop to stop, pin, show details, five bars") {
    Saturation app;
    const auto pinned = test::click_until<view::PinSaturation>(app.ui, {700.0F, 500.0F},
                                                               {701.0F, 760.0F}, {6.0F, 6.0F});
    REQUIRE(pinned);
    CHECK(is_stop(pinned->value));
    CHECK(pinned->value != 4);
    CHECK(saturation_controls(app.state).pin == pinned->value);
    view::apply(app.state, view::SetSaturationWidth{100});
    CHECK(saturation_controls(app.pressed(Key::right)).d_k == 128);
    CHECK(saturation_controls(app.pressed(Key::left)).d_k == 64);
    CHECK(saturation_controls(app.pressed(Key::c)).pin == 64);
    CHECK(saturation_look(app.pressed(Key::w)).raw);
    CHECK_FALSE(saturation_look(app.pressed(Key::d)).details);
    CHECK(saturation_controls(app.pressed(Key::b)).settings.model == SaturationModel::fixed_logits);
    CHECK(saturation_controls(app.state).d_k == 64);
}

TEST_CASE("Tab reaches the large plot and each small one: ↑ and ↓ move the handle, with a ring") {
    Saturation app;
    app.act({view::SetSaturationWidth{64}});
    std::set<std::uint32_t> plots;
    for (int n = 0; n < 40; ++n) {
        app.ui.press(Key::tab);
        app.ui.frames(2);
        app.ui.press(Key::up);
        if (saturation_controls(app.state).d_k != 128) {
            view::apply(app.state, view::SetSaturationWidth{64});
            continue;
        }
        CHECK(saturation_controls(app.pressed(Key::down)).d_k == 64);
        plots.insert(app.state.focus.control);
        app.ui.frames(2);
        const int ringed = app.ui.drawn();
        const auto control = app.state.focus.control;
        app.state.focus.control = 0;
        app.ui.frames(2);
        CHECK(ringed > app.ui.drawn());
        app.state.focus.control = control;
        app.ui.frames(2);
    }
    CHECK(plots.size() == 1 + build_saturation_view(app.state).plots.size());
}

TEST_CASE("Tab reaches the plots and the pin, whose arrows move it") {
    Saturation app;
    bool moved = false;
    for (int n = 0; n < 40 && !moved; ++n) {
        app.ui.press(Key::tab);
        const Index before = saturation_controls(app.state).pin;
        const view::Actions actions = app.ui.press(Key::right);
        moved = saturation_controls(app.state).pin == 2 * before;
    }
    CHECK(moved);
}

TEST_CASE("logits are typed; what is no list of numbers is named and changes nothing") {
    Saturation app;
    app.ui.press(Key::b);
    const std::vector<double> five = saturation_controls(app.state).settings.logits;
    const auto type_logits = [&](const std::string& text) {
        for (float x = 200.0F; x < 1300.0F && !app.state.focus.typing; x += 12.0F) {
            app.ui.move_to({x, 30.0F});
            if (ImGui::GetMouseCursor() == ImGuiMouseCursor_TextInput) app.ui.click({x, 30.0F});
        }
        REQUIRE(app.state.focus.typing);
        app.ui.frames(3);
        app.ui.type(text);
        return app.ui.press(Key::enter);
    };
    const auto reported = action_of<view::Notify>(type_logits("1, x2, 3"));
    CHECK(reported.message.text ==
          "'x2' is not a finite number: the logit of key 1; the logits stay 0.5, 0.9, 0, 1.2, 0.6");
    CHECK(saturation_controls(app.state).settings.logits == five);
    type_logits("1, -2.5, 3e1");
    CHECK(saturation_controls(app.state).settings.logits == std::vector<double>{1.0, -2.5, 30.0});
    CHECK_FALSE(app.state.focus.typing);
}

TEST_CASE("the workspace is drawn at every size, with and without curves and details") {
    for (const ImVec2 size : test::kAppSizes)
        for (const bool fixed : {false, true}) {
            Saturation app(size);
            if (fixed) app.ui.press(Key::b);
            app.ui.frames(2);
            CHECK(app.ui.drawn() > 500);
            app.ui.press(Key::w);
            app.draw_frames();
            CHECK(app.ui.drawn() > 500);
        }
}

TEST_CASE("a click in the large plot moves d_k, one on a picture shows its gradient; ↑ and ↓ too") {
    App app;
    app.draw_frames({view::SetWorkspace{"saturation"}}, 3);
    CHECK(app.ui.drawn() > 500);
    const view::Actions actions = app.ui.drag({350.0F, 620.0F}, {600.0F, 620.0F});
    CHECK(count<view::SetSaturationWidth>(actions) >= 2);
    CHECK(count<view::PinSaturation>(actions) == 0);
    CHECK(is_stop(saturation_controls(app.state).d_k));
    const auto shown = test::click_until<view::ShowGradient>(app.ui, {700.0F, 300.0F},
                                                             {1200.0F, 301.0F}, {20.0F, 20.0F});
    REQUIRE(shown);
    CHECK(saturation_look(app.state).gradient == shown->value);
    app.act({view::ShowGradient{view::GradientOf::q}});
    app.ui.click({20.0F, 600.0F});  // of the rail, where it is empty
    CHECK(saturation_look(app.pressed(Key::down)).gradient == view::GradientOf::w_q);
    CHECK(saturation_look(app.pressed(Key::up)).gradient == view::GradientOf::q);
}

TEST_CASE("the four gradients are drawn at every size") {
    for (const ImVec2 size : test::kAppSizes) {
        App app(size);
        app.draw_frames({view::SetWorkspace{"saturation"}}, 3);
        CHECK(app.ui.drawn() > 500);
    }
}

TEST_CASE("the numbers at the handle stand in the order of their points, however low the plot is") {
    const auto view = [] {
        App app;
        app.draw_frames({view::SetWorkspace{"saturation"}}, 3);
        return build_gradients_over_width(app.state);
    }();
    REQUIRE(view.plot.marker_ys[3] > view.plot.marker_ys[1]);  // without: the mean, the median
    for (const float height : {220.0F, 300.0F, 600.0F}) {
        CAPTURE(height);
        SeenTexts texts;
        test::NullUi ui;
        ui.show_in_window([&](const ui::Frame& frame, view::Actions& out) {
            TextSpy spy(frame.painter);
            const ui::Frame seen = spied(frame, spy);
            ui::Parts parts;
            add_gradients(view, parts, seen, out);
            parts.hero.draw({{20.0F, 20.0F}, {900.0F, 20.0F + height}});
            texts = spy.texts;
        });
        ui.frames(3);
        const SeenText* const mean = find_text(texts, view.plot.marker_texts[3]);
        const SeenText* const median = find_text(texts, view.plot.marker_texts[1]);
        REQUIRE(mean);
        REQUIRE(median);
        CHECK(mean->high.y <= median->low.y + 1.0F);
    }
}
