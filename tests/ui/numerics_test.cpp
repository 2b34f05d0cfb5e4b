#include "app/common/actions.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/view.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::Key, view::numerics_controls, view::numerics_look;

namespace {

/// The workspace with its curves computed.
struct Numerics : App {
    explicit Numerics(ImVec2 size = test::kAppSize) : App(size) {
        draw_frames({view::SetWorkspace{"numerics"}}, 3);
    }
};

}  // namespace

TEST_CASE("a click on a bar of the matrix explains that key, algorithm and format") {
    Numerics app;
    const auto one = action_of<view::SelectNumericsCell>(app.ui.click({337.0F, 600.0F}));
    CHECK(numerics_look(app.state).algorithm == one.algorithm);
    const auto two = action_of<view::SelectNumericsCell>(app.ui.click({602.0F, 600.0F}));
    CHECK(two.algorithm != SoftmaxAlgorithm::naive);
    CHECK(two.format == FloatFormat::fp16);
}

TEST_CASE("dragging over a curve changes the gain, one step of undo") {
    Numerics app;
    const std::size_t before = app.state.now;
    REQUIRE(last<view::SetNumericsGain>(app.ui.drag({250.0F, 860.0F}, {380.0F, 860.0F})));
    CHECK(app.state.now == before + 1);
    CHECK(view::nearest_gain(static_cast<double>(numerics_controls(app.state).gain)) ==
          numerics_controls(app.state).gain);
}

TEST_CASE("keys change gain, format, algorithm and key") {
    Numerics app;
    CHECK(numerics_controls(app.pressed(Key::right)).gain == 32);
    CHECK(numerics_controls(app.pressed(Key::home)).gain == 1);
    CHECK(numerics_look(app.pressed(Key::f)).format == FloatFormat::bf16);
    CHECK(numerics_look(app.pressed(Key::a)).algorithm == SoftmaxAlgorithm::stable);
    CHECK(numerics_look(app.pressed(Key::period)).key == 2);
    CHECK(numerics_controls(app.pressed(Key::d)).row == view::LogitRow::document);
}

TEST_CASE("Numerics is drawn at every size, with NaN, one key, 4096 keys and a late sweep") {
    for (const ImVec2 size : test::kAppSizes)
        for (const std::vector<double>& logits :
             {view::teaching_logits(), std::vector{std::nan(""), 1.0}, std::vector{1.0},
              std::vector<double>(4096, 1.0)}) {
            Numerics app(size);
            app.act({view::SetNumericsLogits{logits}});
            CHECK(app.ui.drawn() > 500);
        }
}
