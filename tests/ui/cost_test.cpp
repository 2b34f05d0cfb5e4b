#include <doctest/doctest.h>

#include "app/workspaces/cost/view.h"
#include "tests/ui/app.h"

using namespace attn;
using attn::test::App;
using attn::test::last;
using view::cost_controls;
using view::cost_look;
using view::Key;

namespace {

struct Cost : App {
    explicit Cost(ImVec2 size = {1600.0F, 1000.0F}) : App(size) {
        view::apply(state, view::SetWorkspace{"cost"});
        ui.frames(3);
    }
};

}  // namespace

TEST_CASE("dragging over the curves changes T, one step of undo") {
    Cost app;
    const std::size_t before = app.state.now;
    const view::Actions actions = app.ui.drag({400.0F, 340.0F}, {700.0F, 340.0F});
    const auto* moved = last<view::SetCostTokens>(actions);
    REQUIRE(moved);
    CHECK(cost_controls(app.state).sizes[CostSize::tk] == moved->tokens);
    CHECK(app.state.now == before + 1);
}

TEST_CASE("a click on a row of the table or on a card explains it") {
    Cost app;
    bool row = false;
    bool card = false;
    for (float y = 380.0F; y < 960.0F; y += 8.0F) {
        const view::Actions actions = app.ui.click({200.0F, y});
        const auto* chosen = last<view::SelectCost>(actions);
        if (chosen == nullptr) continue;
        row = row || chosen->value <= view::CostItem::total;
        card = card || chosen->value == view::CostItem::materialised;
    }
    CHECK(row);
    CHECK(card);
}

TEST_CASE("keys change T, the pass and what is explained; M does not measure what is too large") {
    Cost app;
    app.ui.press(Key::right);
    CHECK(cost_controls(app.state).sizes[CostSize::tk] == 16384);
    app.ui.press(Key::b);
    CHECK(cost_controls(app.state).pass == CostPass::backward);
    app.ui.press(Key::down);
    CHECK(cost_look(app.state).item == view::CostItem::chunked);
    app.ui.press(Key::m);
    CHECK_FALSE(cost_look(app.state).measures);
}

TEST_CASE("Cost is drawn at every size, for every preset and measured") {
    for (const ImVec2 size : {ImVec2{1280, 720}, ImVec2{2560, 1440}, ImVec2{640, 400}})
        for (const view::CostPreset& preset : view::cost_presets()) {
            Cost app(size);
            view::apply(app.state, view::SetCostPreset{preset.key});
            view::CostMeasurement measured;
            measured.of = measured_part(cost_controls(app.state));
            measured.peak_gflops = 100.0;
            measured.stream_gbytes = 20.0;
            measured.staged_ms = measured.fused_ms = 3.0;
            view::apply(app.state, view::CostMeasured{
                                       std::make_shared<const view::CostMeasurement>(measured)});
            app.ui.frames(2);
            CHECK(app.ui.drawn() > 500);
        }
}
