#include "app/common/document/place.h"
#include "app/common/inspector.h"
#include "core/scores/score.h"
#include "core/stages.h"
#include "core/train/task_table.h"
#include "tests/view/view_test.h"

using namespace attn::view;

TEST_CASE("something is selected at the start and every stage, so the inspector is never empty") {
    for (const AppState& first : sample_states())
        for (const Stage stage : ribbon_stages(first.document())) {
            const AppState state = after(first, {GoToStage{stage}});
            CAPTURE(info(stage).key);
            const bool there = step_missing_data(state).empty();
            CHECK(state.selected.has_value() == there);
            CHECK(step_inspector(state).empty == !there);
            if (there) CHECK(has_cell(state, *state.selected));
        }
}

TEST_CASE(
    "first looked at: the largest weight of the first query; under a causal mask, of the last") {
    const AppState state = after(initial_state(), {GoToStage{Stage::scores}});
    const auto a = sheet_of(state, Stage::weights).values;
    const Index key = state.selected->column;
    for (Index j = 0; j < a.columns; ++j) CHECK(a(0, j) <= a(0, key));
    CHECK(state.selected == CellRef{Stage::scores, 0, key});
    CHECK(after(state, {GoToStage{Stage::q}}).selected == CellRef{Stage::q, 0, 0});
    CHECK(after(state, {GoToStage{Stage::k}}).selected == CellRef{Stage::k, key, 0});
    CHECK(initial_state().selected == CellRef{Stage::x, 0, 0});
    const AppState causal = after(initial_state(), {SetCausal{true}, GoToStage{Stage::weights}});
    REQUIRE(causal.selected);
    const auto allowed = sheet_of(causal, Stage::weights).values;
    CHECK(causal.selected->row == 3);
    for (Index j = 0; j < allowed.columns; ++j)
        CHECK(allowed(3, j) <= allowed(3, causal.selected->column));
    const AppState nan = after(
        initial_state(), {SetCell{{Stage::x, 0, 0}, std::nan("")}, GoToStage{Stage::weights}});
    CHECK(nan.selected == CellRef{Stage::weights, 0, 0});
}

TEST_CASE("each kind of stage keeps its own place") {
    AppState state =
        after(initial_state(),
              {GoToStage{Stage::scores}, SelectCell{{Stage::scores, 2, 1}}, GoToStage{Stage::v},
               SelectCell{{Stage::v, 3, 2}}, GoToStage{Stage::context}});
    CHECK(state.selected == CellRef{Stage::context, 2, 0});  // the query of the pair
    CHECK(acted(state, {GoToStage{Stage::weights}}).selected == CellRef{Stage::weights, 2, 1});
    CHECK(acted(state, {GoToStage{Stage::v}}).selected == CellRef{Stage::v, 3, 2});
    const AppState opened = reopened(state);
    CHECK(opened.places == state.places);
    CHECK(after(opened, {GoToStage{Stage::masked}}).selected == CellRef{Stage::masked, 2, 1});
}

TEST_CASE("a choice that a smaller document lacks is back; another document and Escape drop it") {
    AppState chosen = after(initial_state(), {GoToStage{Stage::q}, SelectCell{{Stage::q, 2, 3}}});
    const AppState narrow = after(chosen, {SetKeyWidth{2}});
    CHECK(narrow.selected ==
          CellRef{Stage::q, first_pair(narrow).row, 0});  // where one looks first, not beside it
    CHECK(after(narrow, {Undo{}}).selected == CellRef{Stage::q, 2, 3});
    CHECK(after(narrow, {SetKeyWidth{8}}).selected == CellRef{Stage::q, 2, 3});
    CHECK(after(reopened_alike(narrow), {SetKeyWidth{8}}).selected == CellRef{Stage::q, 2, 3});
    const AppState word = after(
        initial_state(),
        {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 3, 3}}, SetSentence{"The cat"}});
    CHECK(word.selected->row < 2);
    CHECK(after(word, {Undo{}}).selected == CellRef{Stage::weights, 3, 3});
    const AppState weight =
        after(initial_state(), {SelectCell{{Param::w_q, 3, 3}}, SetKeyWidth{2}});
    CHECK(after(weight, {Undo{}}).selected == CellRef{Param::w_q, 3, 3});
    chosen =
        after(initial_state(), {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 3, 1}}});
    CHECK(after(chosen, {ClearSelection{}}).selected->row == 0);
    CHECK(after(chosen, {ClearSelection{}}).message.text.empty());  // it spoke of another cell
    CHECK(after(chosen, {LoadPreset{"river-bank"}}).selected->row == 0);
    CHECK(after(chosen, {LoadPreset{"no such preset"}}).selected == chosen.selected);
}

TEST_CASE("a cell that was edited shows old and new for a moment") {
    const CellRef cell{Param::w_v, 1, 1};
    AppState state =
        after(initial_state(), {BeginCellEdit{cell}, DraftCell{"3"}, CommitCellEdit{}});
    REQUIRE(build_step_view(state).flash);
    CHECK(build_step_view(state).flash->text == "1 → 3");
    CHECK(build_step_view(state).flash->cell == cell);
    CHECK(is_animating(state));
    CHECK(build_step_view(acted(state, {Tick{0.75}})).flash->left == doctest::Approx(0.5));
    AppState calm = after(state, {SetReducedMotion{true}});
    CHECK(build_step_view(calm).flash->left == 1.0);
    CHECK_FALSE(build_step_view(acted(state, {Tick{0.76}})).flash);
    CHECK_FALSE(is_animating(state));
    CHECK_FALSE(build_step_view(after(initial_state(), {SetCell{cell, 1.0}})).flash);
}
