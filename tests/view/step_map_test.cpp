// More than 64 tokens in Step: scores and weights are the map that Large has, with each stage's own numbers.

#include "app/common/document/document.h"
#include "app/common/map/pictures.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/map.h"
#include "core/engine.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"
#include "tests/view/waves.h"

using namespace attn::view;

namespace {

constexpr Stage kMapped[] = {Stage::scores, Stage::scaled, Stage::masked, Stage::weights};

AttentionSpec causal_spec() {
    AttentionSpec spec;
    spec.mask.causal = CausalAlign::top_left;
    spec.temperature = 0.5;
    return spec;
}

/// Looks at single cells.
AppState close_up(AppState state, const large::Cell& cell) {
    return mapped(std::move(state), {SetMapCamera{camera_at(cell)}});
}

InspectorView inspector_of(const AppState& state) {
    return shown_workspace(state).inspector(state);
}

}  // namespace

TEST_CASE("64 tokens are cells, 65 a map at the stages of the scores' shape") {
    for (const Index tokens : {64, 65})
        for (const Stage stage : ribbon_stages(state_with(tokens).document())) {
            if (stage == Stage::x) continue;  // of files with X alone
            CAPTURE(info(stage).key);
            const AppState state = after(state_with(tokens), {GoToStage{stage}});
            const StepView view = build_step_view(state);
            const bool pairs = std::ranges::count(kMapped, stage) > 0;
            CHECK(view.map == (pairs && tokens == 65));
            CHECK((map_look(state).form != MapForm::own) == view.map);
            CHECK(view.result.cells.empty() == view.map);
            CHECK(view.unavailable.empty());
        }
}

TEST_CASE("the map shows each stage's own numbers, and its legend says which") {
    AppState state = state_with(100, causal_spec());
    for (const Stage stage : kMapped) {
        CAPTURE(info(stage).key);
        state = close_up(after(std::move(state), {GoToStage{stage}}), {50, 47});
        const MapView view = build_map_view(state);
        REQUIRE_FALSE(view.pictures.empty());
        CHECK_FALSE(view.loading);
        const bool masks = stage == Stage::masked || stage == Stage::weights;
        CHECK((view.legend.masked == "masked") == masks);
        for (const large::Cell cell : {large::Cell{50, 47}, {51, 51}, {49, 52}}) {
            CAPTURE(cell.column);
            const auto drawn = drawn_weight(map_look(state), cell);
            REQUIRE(drawn);
            const bool forbidden = masks && cell.column > cell.row;
            CHECK(drawn->masked == forbidden);
            if (forbidden) continue;
            CHECK(drawn->weight ==
                  doctest::Approx(*value_at(state, {stage, cell.row, cell.column})).epsilon(1e-4));
        }
    }
    const auto title = [&](Stage stage) {
        return build_map_view(close_up(after(state, {GoToStage{stage}}), {50, 47})).legend.title;
    };
    CHECK(title(Stage::scores) == "score q·k");
    CHECK(title(Stage::scaled) == "scaled score S = q·k ÷ √d_k ÷ 0.50");
    CHECK(title(Stage::weights) == "weight");
}

TEST_CASE("where Step has the numbers the inspector is Step's, a row for each key") {
    AppState state =
        after(state_with(100), {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 70, 71}}});
    CHECK_FALSE(is_map_alone(state));
    REQUIRE(map_look(state).selected);
    CHECK(*map_look(state).selected == large::Cell{70, 71});
    const InspectorView view = inspector_of(state);
    CHECK(view.value == number(*value_at(state, {Stage::weights, 70, 71})));
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 100);
    CHECK(*map_look(acted(state, {MoveSelection{1, 0}})).selected == large::Cell{71, 71});
}

TEST_CASE("300 tokens: no stage is computed, a cell's number is the reference's") {
    const AttentionSpec spec = causal_spec();
    AppState state = after(state_with(300, spec), {SetWorkspace{"step"}});
    CHECK((*state.trace)[Stage::scores].empty());
    CHECK(state.stage == Stage::weights);
    const Trace reference = attend(*state.document().inputs, spec).value();
    for (const Stage stage : kMapped) {
        CAPTURE(info(stage).key);
        state = mapped(std::move(state), {GoToStage{stage}});
        CHECK(is_map_alone(state));
        CHECK(build_step_view(state).map);
        REQUIRE(map_look(state).selected);  // the inspector is never empty
        state = mapped(std::move(state), {SelectMapCell{{280, 270}}});
        const InspectorView view = inspector_of(state);
        const double expected = reference[stage](0, 0, 280, 270);
        CHECK(std::stod(view.as_text.substr(view.as_text.rfind('=') + 1)) ==
              doctest::Approx(expected).epsilon(1e-4));
        const bool weighs = stage == Stage::weights;
        CHECK((has(view.as_text, "logsumexp")) == weighs);
        CHECK((view.role == Role::weight) == weighs);
        state = mapped(std::move(state), {SelectMapCell{{3, 200}}});
        const bool masks = stage == Stage::masked || weighs;
        const bool contains = has(inspector_of(state).as_text, "forbids");
        CHECK(contains == masks);
        CHECK((inspector_of(state).value == "−∞") == (stage == Stage::masked));
    }
}

TEST_CASE("positions, cap, ALiBi and global tokens: each stage's map has the reference's numbers") {
    AttentionSpec spec = causal_spec();
    spec.rope = Rope{};
    spec.query_offset = 9;
    spec.softcap = 2.0;
    spec.alibi = true;
    spec.mask.window_left = 20;
    spec.mask.global_tokens = 2;
    AttentionSpec cosine;
    cosine.score = Score::cosine;
    for (const AttentionSpec& each : {spec, cosine}) {
        AppState state = after(state_with(300, each), {SetWorkspace{"step"}});
        const Trace reference = attend(*state.document().inputs, each).value();
        for (const Stage stage :
             {Stage::scores, Stage::scaled, Stage::biased, Stage::masked, Stage::weights}) {
            if (reference[stage].empty()) continue;
            CAPTURE(info(stage).key);
            state = mapped(std::move(state), {GoToStage{stage}});
            CHECK(build_step_view(state).map);
            for (const large::Cell cell : {large::Cell{280, 270}, {280, 1}, {280, 100}, {3, 200}}) {
                const double expected = reference[stage](0, 0, cell.row, cell.column);
                const auto close = [&](double shown) {
                    CHECK(shown == doctest::Approx(expected).epsilon(1e-4));
                };
                state = close_up(mapped(std::move(state), {SelectMapCell{cell}}), cell);
                const auto drawn = drawn_weight(map_look(state), cell);
                REQUIRE(drawn);
                const bool forbidden = std::isinf(expected) || expected == 0.0;
                CHECK(drawn->masked == forbidden);
                CHECK(has(inspector_of(state).as_text, "forbids") == forbidden);
                if (forbidden) continue;
                close(drawn->weight);
                const std::string text = inspector_of(state).as_text;
                close(std::stod(text.substr(text.rfind('=') + 1)));
            }
        }
    }
}

TEST_CASE("every other stage of 300 tokens says why it is not there; late answers are dropped") {
    for (const Stage stage : {Stage::q, Stage::k, Stage::v, Stage::context, Stage::output}) {
        const AppState state = after(state_with(300), {SetWorkspace{"step"}, GoToStage{stage}});
        const StepView view = build_step_view(state);
        CHECK_FALSE(view.map);
        CHECK(view.unavailable.find("300 × 300 scores are too many") == 0);
    }
    AppState state = after(state_with(100), {GoToStage{Stage::scores}});
    const Action late = run(requested_map_input(state).value(), {});
    CHECK_FALSE(map_look(acted(state, {GoToStage{Stage::weights}, late})).input);
    CHECK(requested_map_input(state));
}

TEST_CASE("5,000 tokens in Step keep no matrix of pairs") {
    const AppState state =
        mapped(after(state_with(5000), {SetWorkspace{"step"}, SetMapCanvas{{900.0, 600.0}}}));
    for (const StageInfo& stage : stage_table()) CHECK((*state.trace)[stage.stage].empty());
    const StepView view = build_step_view(state);
    CHECK(view.map);
    CHECK(view.operands.empty());
    CHECK_FALSE(build_map_view(state).pictures.empty());
    CHECK_FALSE(inspector_of(state).empty);
}

TEST_CASE("Large keeps its own picture beside Step's map") {
    AppState state = mapped(state_with(100), {GoToStage{Stage::scores}});
    CHECK(map_look(state).picture == MapPictureOf::weights);
    state = mapped(std::move(state), {SetWorkspace{"large"}});
    CHECK(map_look(state).form == MapForm::own);
    CHECK(has(build_map_view(state).legend.title, "weight"));
    state = mapped(std::move(state), {SetMapPicture{MapPictureOf::scores}});
    state = mapped(std::move(state), {SetWorkspace{"step"}, GoToStage{Stage::weights}});
    CHECK(has(build_map_view(state).legend.title, "weight"));
    CHECK(map_look(state).picture == MapPictureOf::scores);
}

TEST_CASE("dropout: Step's map has the weights before it, and the dropped ones are cells") {
    AttentionSpec spec;
    spec.dropout = 0.25;
    AppState state = mapped(state_with(100, spec), {GoToStage{Stage::weights}});
    CHECK(map_look(state).fault.empty());
    CHECK_FALSE(build_map_view(state).pictures.empty());
    CHECK_FALSE(build_step_view(after(state, {GoToStage{Stage::dropped}})).map);
    state = after(std::move(state), {SetWorkspace{"large"}});
    state = after(std::move(state), {run(requested_map_input(state).value(), {})});
    CHECK(has(map_look(state).fault, "dropout"));
    CHECK(map_look(mapped(std::move(state), {SetWorkspace{"step"}})).fault.empty());
}
