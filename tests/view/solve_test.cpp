// A number of V that is typed: W_V is solved for it.

#include "app/common/document/solve.h"
#include "app/common/workspace.h"
#include "core/column_change.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

float v_at(const AppState& state, Index row, Index column) {
    return *value_at(state, {Stage::v, row, column});
}

/// Rows of V other than `row` that differ by more than rounding.
Index moved_rows(const AppState& from, const AppState& to, Index row) {
    Index moved = 0;
    const Tensor &before = (*from.trace)[Stage::v], &after = (*to.trace)[Stage::v];
    for (Index i = 0; i < before.shape().t; ++i) {
        float most = 0.0F;
        for (Index c = 0; c < before.shape().d; ++c)
            most = std::max(most, std::abs(before(0, 0, i, c) - after(0, 0, i, c)));
        moved += i != row && most > 1e-4F ? 1 : 0;
    }
    return moved;
}

}  // namespace

TEST_CASE("a number of V is typed: W_V is solved for it, other rows of V and the weights stay") {
    const AppState state = after(initial_state(), {GoToStage{Stage::v}});
    for (const auto [row, column] : each_cell(4, 4)) {
        const AppState typed = after(
            state, {BeginCellEdit{{Stage::v, row, column}}, DraftCell{"2"}, CommitCellEdit{}});
        REQUIRE(typed.now == 1);
        CHECK(v_at(typed, row, column) == doctest::Approx(2.0).epsilon(1e-5));
        CHECK(moved_rows(state, typed, row) == 0);
        CHECK((*typed.trace)[Stage::weights] == (*state.trace)[Stage::weights]);
        CHECK((*typed.trace)[Stage::context] != (*state.trace)[Stage::context]);
        CHECK(typed.document().inputs->x == state.document().inputs->x);
        CHECK(typed.document().inputs->params[Param::w_k] ==
              state.document().inputs->params[Param::w_k]);
        CHECK(has(typed.message.text, ", with W_V solved for it: other rows of V stay"));
        CHECK(after(typed, {Undo{}}).document().inputs->params[Param::w_v] ==
              state.document().inputs->params[Param::w_v]);
        CHECK(v_at(after(typed, {Undo{}, Redo{}}), row, column) == v_at(typed, row, column));
    }
}

TEST_CASE("V: where words are no more independent other rows move, which is said") {
    const AppState state = after(initial_state(), {SetSentence{"one two three four five six seven"},
                                                   SetHeads{2}, GoToStage{Stage::v}, ShowHead{1}});
    const AppState typed = after(state, {SetCell{{Stage::v, 3, 1}, -1.5}});
    CHECK(v_at(typed, 3, 1) == doctest::Approx(-1.5).epsilon(1e-5));
    CHECK(moved_rows(after(state, {ShowHead{0}}), after(typed, {ShowHead{0}}), -1) == 0);
    CHECK(has(typed.message.text, ", with W_V solved for it: other rows of V move too"));
}

TEST_CASE("V: where it is given it is an input; what no W_V makes is refused") {
    AppState state = after(initial_state(), {GoToStage{Stage::v}, SelectCell{{Stage::v, 1, 1}}});
    CHECK(has(shown_workspace(state).inspector(state).edit_hint, "W_V is solved for it"));
    CHECK_FALSE(shown_workspace(state).inspector(state).sources.empty());
    for (const Index row : {0, 1, 2, 3}) acted(state, {SetCell{{Stage::x, 1, row}, 0.0}});
    const std::size_t now = state.now;
    acted(state, {SetCell{{Stage::v, 1, 1}, 3.0}});
    CHECK(state.now == now);
    CHECK(state.message.severity == Severity::error);
    CHECK(has(state.message.text, "no W_V gives it, because row 1 of X is 0"));
    acted(state, {SetCell{{Stage::v, 0, 1}, std::numeric_limits<double>::infinity()}});
    CHECK(state.now == now);
    CHECK(has(state.message.text, "no W_V gives it, because row 0 of X is finite"));
    CHECK_FALSE(can_be_typed(state, Stage::scores));
    CHECK_FALSE(can_be_typed(state, Stage::k));
}

TEST_CASE("the change of a column by hand: alone beside other rows, else the shortest") {
    const float plane[] = {1, 0, 0, 1, 1, 0};  // rows (1, 0, 0) and (1, 1, 0)
    const MatrixView<const float> x{plane, 2, 3, 3};
    const auto first = column_change(x, 0, 2.0);
    REQUIRE(first);
    CHECK(first->alone);
    REQUIRE(first->column.size() == 3);
    for (const auto& [got, expected] :
         {std::pair(first->column[0], 2.0), {first->column[1], -2.0}, {first->column[2], 0.0}})
        CHECK(std::abs(got - expected) < 1e-12);
    const float line[] = {1, 2, 3, 6};
    const auto second = column_change({line, 2, 2, 2}, 1, 45.0);
    REQUIRE(second);
    CHECK_FALSE(second->alone);
    REQUIRE(second->column.size() == 2);
    CHECK(second->column[0] == doctest::Approx(3.0));
    CHECK(second->column[1] == doctest::Approx(6.0));
    const float none[] = {0, 0, 1, 1};
    CHECK_FALSE(column_change({none, 2, 2, 2}, 0, 1.0));
    CHECK_FALSE(column_change(x, 0, std::nan("")));
}
