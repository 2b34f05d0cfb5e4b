#include "app/workspaces/cost/actions.h"
#include "app/workspaces/cost/view.h"
#include "tests/ui/app.h"

using namespace attn;
using namespace attn::test;
using view::cost_controls, view::cost_look, view::Key;

TEST_CASE("dragging over the curves changes T, one step of undo") {
    App app("cost");
    const std::size_t before = app.state.now;
    const auto moved =
        action_of<view::SetCostTokens>(app.ui.drag({400.0F, 340.0F}, {700.0F, 340.0F}));
    CHECK(cost_controls(app.state).sizes[CostSize::tk] == moved.tokens);
    CHECK(app.state.now == before + 1);
}

TEST_CASE("a click on a row of the table or on a card explains it") {
    App app("cost");
    std::vector<view::CostItem> chosen;
    for (const view::Action& action :
         test::clicks_over(app.ui, {200.0F, 380.0F}, {201.0F, 960.0F}, {8.0F, 8.0F}))
        if (const auto* select = action.as<view::SelectCost>()) chosen.push_back(select->value);
    REQUIRE_FALSE(chosen.empty());
    CHECK(std::ranges::min(chosen) <= view::CostItem::total);
    CHECK(std::ranges::count(chosen, view::CostItem::materialised) > 0);
}

TEST_CASE("keys change T, the pass and what is explained; M does not measure what is too large") {
    App app("cost");
    CHECK(cost_controls(app.pressed(Key::right)).sizes[CostSize::tk] == 16384);
    CHECK(cost_controls(app.pressed(Key::b)).pass == CostPass::backward);
    CHECK(cost_look(app.pressed(Key::down)).item == view::CostItem::chunked);
    CHECK_FALSE(cost_look(app.pressed(Key::m)).measures);
}

TEST_CASE("Cost is drawn at every size, for every preset and measured") {
    for (const ImVec2 size : test::kAppSizes)
        for (const view::CostPreset& preset : view::cost_presets()) {
            App app("cost", size);
            view::apply(app.state, view::SetCostPreset{preset.key});
            view::CostMeasurement measured;
            measured.of = measured_part(cost_controls(app.state));
            measured.peak_gflops = 100.0;
            measured.stream_gbytes = 20.0;
            measured.staged_ms = measured.fused_ms = 3.0;
            app.act({view::CostMeasured{std::make_shared<const view::CostMeasurement>(measured)}});
            CHECK(app.ui.drawn() > 500);
        }
}
