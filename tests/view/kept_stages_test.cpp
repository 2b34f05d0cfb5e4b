// A backend may keep less than every stage: whoever reads the trace must ask first.

#include "app/common/inspector.h"
#include "core/large/map_input.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState fused_state(const std::string& preset) {
    return after(preset_state(preset), {SetBackend{"fused"}});
}

std::string description_of(const InspectorView& view) {
    std::string text;
    for (const Line& line : view.lines)
        for (const Piece& piece : line.pieces) text += piece.text + "\n";
    return text;
}

}  // namespace

TEST_CASE("what the backend does not keep is named, and nothing is offered to be clicked") {
    const CellRef cell{Stage::context, 0, 0};
    AppState state =
        after(fused_state("the-cat-sat-down"), {GoToStage{Stage::context}, SelectCell{cell}});
    REQUIRE(state.selected);
    const InspectorView view = step_inspector(state);
    CHECK(has(description_of(view),
              "weights are not stored by the backend fused: choose another backend"));
    CHECK(has(view.as_python, "print("));
    CHECK(!view.table);
    state = after(fused_state("the-cat-sat-down"), {GoToStage{Stage::weights}});
    CHECK(build_step_view(state).unavailable == "The backend fused does not store this stage (A).");
    CHECK(step_inspector(state).hint.empty());
}

TEST_CASE("every cell of every stage is read safely from a trace that lacks stages") {
    for (const char* preset : {"the-cat-sat-down", "three-heads", "cross-attention", "eight-heads"})
        for (const Stage missing : ribbon_stages(preset_state(preset).document())) {
            AppState state = preset_state(preset);
            Trace less = *state.trace;
            less[missing] = {};
            state.trace = std::make_shared<const Trace>(std::move(less));
            for (const Stage stage : ribbon_stages(state.document()))
                for (const bool gradients : {false, true}) {
                    CAPTURE(preset);
                    CAPTURE(info(missing).key);
                    CAPTURE(info(stage).key);
                    const AppState there =
                        after(state, {GoToStage{stage}, ShowGradients{gradients},
                                      SelectCell{{stage, 0, 1}}, HoverCell{CellRef{stage, 1, 0}},
                                      CopyArithmetic{CopyAs::python}});
                    const StepView view = build_step_view(there);
                    CHECK(view.unavailable.empty() == (stage != missing));
                    for (const GridView& grid : view.operands) CHECK(!grid.cells.empty());
                    CHECK(view.result.column_labels.size() ==
                          static_cast<std::size_t>(view.result.columns));
                    step_inspector(there);
                }
        }
}

TEST_CASE("a value that the trace does not hold is none; a session that selects there opens") {
    AppState state = fused_state("the-cat-sat-down");
    CHECK(value_at(state, {Stage::weights, 0, 0}) == std::nullopt);
    CHECK(value_at(state, {Stage::context, 0, 0}).has_value());
    CHECK(value_at(state, {Stage::context, 99, 0}) == std::nullopt);
    CHECK(value_at(state, {Stage::context, -1, 0}) == std::nullopt);
    state = after(fused_state("eight-heads"), {GoToStage{Stage::context}});
    state.selected = state.hovered = CellRef{Stage::context, 1, 0};
    const AppState opened = reopened(state);
    CHECK(!step_inspector(opened).empty);
    build_step_view(opened);
}
