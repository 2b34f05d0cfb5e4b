#include "app/workspaces/positions/actions.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App, view::Key;

namespace {

struct PositionsApp : App {
    explicit PositionsApp(ImVec2 size = test::kAppSize) : App("positions", size) {}
    const view::PositionsControls& controls() const { return view::positions_controls(state); }
};

}  // namespace

TEST_CASE("a drag over the large plot changes the distance, a click on a small one the kind") {
    PositionsApp app;
    const std::size_t before = app.state.now;
    app.ui.drag({400.0F, 400.0F}, {600.0F, 400.0F});
    const Index there = app.controls().distance;
    CHECK(there > 16);
    app.ui.drag({600.0F, 400.0F}, {300.0F, 400.0F});
    CHECK(app.controls().distance < there);
    CHECK(app.controls().kind == PositionKind::rotary);
    CHECK(app.state.now == before + 2);
    app.ui.click({app.left() + 136.0F, 880.0F});
    CHECK(app.controls().kind == PositionKind::sinusoidal);
    app.ui.click({app.left() + 1016.0F, 800.0F});
    CHECK(app.controls().kind == PositionKind::alibi);
    app.ui.press(Key::up);
    CHECK(app.controls().kind == PositionKind::rotary);
}

TEST_CASE("every field has a control that the keyboard reaches") {
    PositionsApp app;
    const auto tabs_until = [&](auto&& found) {
        for (int n = 0; n < 40 && !found(); ++n) {
            app.ui.press(Key::tab);
            app.ui.press(Key::right);
        }
        return found();
    };
    const view::PositionsControls first;
    CHECK(tabs_until([&] { return app.controls().settings.d_k != first.settings.d_k; }));
    CHECK(tabs_until([&] { return app.controls().settings.base != first.settings.base; }));
    CHECK(tabs_until([&] { return app.controls().settings.heads != first.settings.heads; }));
    CHECK(tabs_until([&] { return app.controls().settings.farthest != first.settings.farthest; }));
}

TEST_CASE("Positions is drawn at every size, for every kind and at the ends of its settings") {
    for (const ImVec2 size : test::kAppSizes)
        for (std::size_t kind = 0; kind < kPositionKindCount; ++kind)
            for (const PositionSettings& settings :
                 {PositionSettings{}, PositionSettings{2, 1.0, 1, 0, 1, 3},
                  PositionSettings{256, 1e7, 128, 127, 512, 4}}) {
                PositionsApp app(size);
                view::apply(app.state,
                            view::SetPositions{{static_cast<PositionKind>(kind), settings, 1}});
                app.ui.frames(2);
                CHECK(app.ui.drawn() > 500);
            }
}
