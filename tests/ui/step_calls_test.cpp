// Step with a call of every kind that the engine has: a click on a cell of each stage finds its number explained.

#include "app/common/document/document.h"
#include "app/common/format.h"
#include "app/common/inspector.h"
#include "app/common/sheet.h"
#include "app/workspaces/step/view.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/ui/app.h"
#include "tests/view/sample_states.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Clicks over the canvas until a cell of the stage is selected.
bool click_a_cell(App& app, Stage stage) {
    const ImVec2 canvas_low{400.0F, 330.0F}, canvas_high{1150.0F, 900.0F};
    for (float y = canvas_low.y; y < canvas_high.y; y += 37.0F)
        for (float x = canvas_low.x; x < canvas_high.x; x += 53.0F) {
            app.ui.click({x, y});
            const auto& selected = app.state.selected;
            if (selected && selected->tensor == OperandId(stage)) return true;
        }
    return false;
}

/// Besides call_states(): every mask, dropout, scale, empty rows of NaN, and projections of X with biases.
std::vector<view::AppState> other_calls() {
    std::vector<view::AppState> states;
    for (const Case& one : engine_cases(Sizes::small)) {
        view::Document document =
            view::document_of({std::make_shared<const Inputs>(one.inputs)}, one.name.c_str());
        document.title = one.name;
        document.spec = one.spec;
        states.push_back(view::state_of(std::move(document)).value());
    }
    return states;
}

bool is_given(const view::Document& document, Stage stage) {
    return !document.inputs->projects() &&
           (stage == Stage::q || stage == Stage::k || stage == Stage::v);
}

}  // namespace

TEST_CASE("of every kind of call, a click on each stage explains the number that was clicked") {
    std::vector<view::AppState> calls = view::call_states();
    std::ranges::move(other_calls(), std::back_inserter(calls));
    for (const view::AppState& call : calls) {
        CAPTURE(call.document().title);
        App app;
        app.set(call);
        for (const Stage stage : ribbon_stages(call.document())) {
            CAPTURE(info(stage).key);
            app.act({view::ClearSelection{}, view::GoToStage{stage}});
            REQUIRE(click_a_cell(app, stage));
            const view::InspectorView inspector = view::step_inspector(app.state);
            const float value = *value_at(app.state, *app.state.selected);
            CHECK(inspector.value == view::number(value));
            CHECK_FALSE(inspector.tex.empty());
            if (stage == Stage::x || stage == Stage::x_kv || is_given(call.document(), stage) ||
                value == 0.0F || !std::isfinite(value))
                continue;
            REQUIRE_FALSE(inspector.lines.empty());
            const auto ends_with_it = [&](const view::Line& line) {
                return !line.pieces.empty() && line.pieces.back().text == inspector.value;
            };
            CHECK(std::ranges::any_of(inspector.lines, ends_with_it));
        }
    }
}
