#include "app/workspaces/step/sources.h"
#include "app/common/document/document.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

std::string stated(const AppState& state, Stage stage, Index row, Index column) {
    return after(state, {ExplainSource{{stage, row, column}}}).message.text;
}

}  // namespace

TEST_CASE("a computed number says which inputs make it; what the mask decides has none") {
    const AppState first = initial_state();  // The cat sat down
    CHECK(stated(first, Stage::scores, 1, 2) ==
          "scores[cat, sat] is computed: change X[cat], X[sat], W_Q or W_K.");
    CHECK(stated(first, Stage::q, 1, 0) ==
          "Q[cat, 0] is computed: change X[cat] or column 0 of W_Q.");
    CHECK(stated(first, Stage::weights, 1, 2) == "A[cat, sat] is computed: change X, W_Q or W_K.");
    CHECK(stated(first, Stage::context, 1, 0) ==
          "context[cat, 0] is computed: change X, W_Q, W_K or column 0 of W_V.");
    CHECK(stated(first, Stage::x, 1, 0) == "X[cat, 0] is an input: you can change it.");
    const AppState causal = after(initial_state(), {SetCausal{true}});
    CHECK(stated(causal, Stage::weights, 0, 2) ==
          "A[The, sat]: the mask forbids this pair, so no input changes its weight.");
    CHECK(stated(causal, Stage::weights, 0, 0) ==
          "A[The, The]: the query may attend only to this key, so no input changes its weight.");
    CHECK(stated(causal, Stage::weights, 1, 0) ==
          "A[cat, The] is computed: change X[The], X[cat], W_Q or W_K.");
    CHECK(stated(causal, Stage::context, 0, 1) ==
          "context[The, 1] is computed: change X[The] or column 1 of W_V.");
}

TEST_CASE("a double click on a computed number begins no edit and selects it") {
    const AppState state = after(initial_state(), {ExplainSource{{Stage::scores, 1, 2}}});
    CHECK_FALSE(step_look(state).editing);
    CHECK(state.selected == CellRef{Stage::scores, 1, 2});
}

TEST_CASE("every source exists, can be changed, and stands at a stage of the ribbon") {
    for (const AppState& state : sample_states()) {
        CAPTURE(state.document().title);
        const auto ribbon = ribbon_stages(state.document());
        for (const Stage stage : ribbon) {
            const CellRef cell{stage, 0, 0};
            if (!has_cell(state, cell)) continue;
            for (const SourceLink& source : sources_of(state, cell)) {
                CAPTURE(source.text);
                CHECK(is_editable(state, source.cell.tensor));
                CHECK(has_cell(state, source.cell));
                CHECK(std::ranges::count(ribbon, source.stage) == 1);
            }
        }
    }
}

TEST_CASE("no number outside of the sources changes a computed number") {
    const AppState before = after(initial_state(), {SetCausal{true}});
    const CellRef cell{Stage::weights, 1, 0};
    const float value = *value_at(before, cell);
    for (const OperandId id : {OperandId(Stage::x), OperandId(Param::w_q), OperandId(Param::w_k),
                               OperandId(Param::w_v)}) {
        const Index rows = sheet_of(before, id).values.rows;
        for (Index row = 0; row < rows; ++row) {
            INFO("name_of(id) ", name_of(id), ", row ", row);
            const AppState edited = after(before, {SetCell{{id, row, 0}, 2.75}});
            const bool is_source =
                id == OperandId(Stage::x) ? row < 2 : id != OperandId(Param::w_v);
            if (!is_source) CHECK(*value_at(edited, cell) == value);
            if (id == OperandId(Stage::x) && is_source) CHECK(*value_at(edited, cell) != value);
        }
    }
}
