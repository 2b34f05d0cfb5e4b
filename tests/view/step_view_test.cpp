#include <set>
#include "app/common/document/document.h"
#include "app/common/document/place.h"
#include "app/common/workspace.h"
#include "core/large/map_input.h"
#include "core/stages.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

std::vector<std::pair<Index, Index>> highlighted_cells(const GridView& grid) {
    std::vector<std::pair<Index, Index>> cells;
    for (std::size_t n = 0; n < grid.highlighted.size(); ++n)
        if (grid.highlighted[n])
            cells.emplace_back(static_cast<Index>(n) / grid.columns,
                               static_cast<Index>(n) % grid.columns);
    return cells;
}

void check_grid(const GridView& grid) {
    CAPTURE(grid.title);
    CHECK(grid.cells.size() == static_cast<std::size_t>(grid.rows * grid.columns));
    CHECK(grid.row_labels.size() == static_cast<std::size_t>(grid.rows));
    CHECK(grid.column_labels.size() == static_cast<std::size_t>(grid.columns));
    CHECK((grid.highlighted.empty() || grid.highlighted.size() == grid.cells.size()));
    for (const SideVector& side : grid.sides)
        CHECK(side.cells.size() == static_cast<std::size_t>(grid.rows));
}

}  // namespace

TEST_CASE("every stage of every model has whole grids, one of them in the hero's place") {
    for (const AppState& state : sample_states())
        for (const Stage stage : ribbon_stages(state.document()))
            for (const bool gradients : {false, true}) {
                const StepView view =
                    build_step_view(after(state, {GoToStage{stage}, ShowGradients{gradients}}));
                CAPTURE(state.document().title);
                if (is_empty(state.document())) {
                    CHECK_FALSE(view.unavailable.empty());
                    continue;
                }
                CHECK(view.unavailable.empty());
                check_grid(view.result);
                int heroes = view.result.slot == Slot::hero ? 1 : 0;
                for (const GridView& grid : view.operands) {
                    check_grid(grid);
                    heroes += grid.slot == Slot::hero ? 1 : 0;
                    if (grid.slot == Slot::left) CHECK(grid.rows == view.result.rows);
                }
                CHECK(heroes == 1);
            }
}

TEST_CASE("the context has the hero's place, with A left of it and V above") {
    const StepView view = build_step_view(after(initial_state(), {GoToStage{Stage::context}}));
    REQUIRE(view.operands.size() == 2);
    CHECK(view.result.slot == Slot::hero);
    CHECK(view.operands[0].id == OperandId(Stage::weights));
    CHECK(view.operands[0].slot == Slot::left);
    CHECK(view.operands[1].id == OperandId(Stage::v));
    CHECK(view.operands[1].slot == Slot::top);
    CHECK_FALSE(view.operands[1].transposed);
    CHECK(view.operands[1].columns == view.result.columns);
}

TEST_CASE("marks stand above stages only where an edit left some of them") {
    const auto marks = [](const AppState& state) {
        std::set<Mark> all;
        for (const RibbonItem& item : build_step_view(state).ribbon) all.insert(item.mark);
        return all;
    };
    const AppState typed = after(initial_state(), {SetSentence{"we type new words"}});
    CHECK(marks(typed) == std::set{Mark::none});
    CHECK_FALSE(has(build_step_view(typed).text, "●"));
    const AppState divided = after(initial_state(), {SetScaling{false}});
    CHECK(marks(divided).contains(Mark::changed));
    CHECK(marks(divided).contains(Mark::same));
    CHECK(has(build_step_view(divided).text, "● changed by your edit."));
}

TEST_CASE("the headline names the first NaN of the inputs, in amber") {
    AppState state = after(initial_state(), {GoToStage{Stage::x}});
    CHECK_FALSE(build_step_view(state).headline_warns);
    Trace trace = *state.trace;
    const float nan = std::numeric_limits<float>::quiet_NaN();
    trace[Stage::q](0, 0, 2, 1) = nan;
    for (float& weight : trace[Stage::weights].matrix(0, 0).row(2)) weight = nan;
    state.trace = std::make_shared<const Trace>(trace);
    for (const Stage stage : {Stage::q, Stage::scores, Stage::weights}) {
        const StepView view = build_step_view(after(state, {GoToStage{stage}}));
        CHECK(view.headline_warns);
        REQUIRE(view.headline.size() == 1);
        CHECK(view.headline.front().text ==
              "Q[sat, 1] is NaN, so 1 row of weights here holds NaN.");
    }
}

TEST_CASE("without a choice the least even row is looked at") {
    AppState state = after(initial_state(), {SetSentence{numbered("w", 6)}});
    Trace trace = *state.trace;
    auto weights = trace[Stage::weights].matrix(0, 0);
    for (Index i = 0; i < weights.rows; ++i)
        for (Index j = 0; j < weights.columns; ++j) weights(i, j) = 1.0F / 6.0F;
    const std::vector<float> peaked{0.01F, 0.01F, 0.01F, 0.95F, 0.01F, 0.01F};
    std::ranges::copy(peaked, weights.row(4).begin());
    state.trace = std::make_shared<const Trace>(trace);
    state.places = {};
    const large::Cell pair = first_pair(state);
    CHECK(pair.row == 4);
    CHECK(pair.column == 3);
}

TEST_CASE("the ribbon says by what scores are divided") {
    const auto label = [](const AppState& state) {
        const std::vector<RibbonItem> ribbon = build_step_view(state).ribbon;
        return one_of(ribbon, Stage::scaled, &RibbonItem::stage).label;
    };
    CHECK(label(initial_state()) == "÷√d_k");
    CHECK(label(after(initial_state(), {SetScaling{false}})) == "÷1");
    CHECK(label(after(initial_state(), {SetTemperature{2.0}})) == "÷√d_k ÷2");
    CHECK(label(after(initial_state(), {SetScaling{false}, SetTemperature{2.0}})) == "÷2");
}

TEST_CASE("step has settled when nothing fades and nothing moves") {
    AppState state = initial_state();
    CHECK(shown_workspace(state).is_idle(state));
    step_look(state).fade = 0.5;
    CHECK_FALSE(shown_workspace(state).is_idle(state));
}

TEST_CASE("first launch is at X, and says what to press; X is word + position if made so") {
    CHECK(build_step_view(initial_state()).formula == "X[i] = the numbers of token i");
    const StepView typed = build_step_view(after(initial_state(), {SetSentence{"so it is"}}));
    CHECK(typed.formula == "X = embedding(token) + position");
    const StepView view = build_step_view(initial_state());
    CHECK(view.ribbon[0].progress == Progress::current);
    CHECK(view.result.title == "X");
    CHECK(view.hint == "Click any number to see where it comes from.");
    CHECK(build_step_view(after(initial_state(), {StepBy{1}})).hint.empty());
}

TEST_CASE("a score lights its row of Q and its column of the transposed K") {
    const AppState state =
        after(initial_state(), {GoToStage{Stage::scores}, HoverCell{CellRef{Stage::scores, 2, 1}}});
    const StepView view = build_step_view(state);
    REQUIRE(view.operands.size() == 2);
    CHECK(highlighted_cells(view.operands[0]) ==
          std::vector<std::pair<Index, Index>>{{2, 0}, {2, 1}, {2, 2}, {2, 3}});
    CHECK(view.operands[1].title == "Kᵀ");
    CHECK(highlighted_cells(view.operands[1]) ==
          std::vector<std::pair<Index, Index>>{{0, 1}, {1, 1}, {2, 1}, {3, 1}});
}

TEST_CASE("without W_O a number of the output lights its own in the context, and no other") {
    const auto highlighted = [](Stage stage) {
        const StepView view = build_step_view(
            after(two_sequences_state(), {GoToStage{stage}, HoverCell{CellRef{stage, 1, 2}}}));
        REQUIRE_FALSE(view.operands.empty());
        return highlighted_cells(view.operands[0]);
    };
    CHECK(highlighted(Stage::output) == std::vector<std::pair<Index, Index>>{{1, 2}});
    CHECK(highlighted(Stage::scores) ==
          std::vector<std::pair<Index, Index>>{{1, 0}, {1, 1}, {1, 2}, {1, 3}});
}

TEST_CASE("weights show max, Σ exp, row sums and what is said of each row") {
    const StepView view = build_step_view(
        after(preset_state("cat-sat-mat"), {SetScaling{false}, GoToStage{Stage::weights}}));
    const auto side = [&](const std::string& title) {
        return one_of(view.result.sides, title, &SideVector::title).cells;
    };
    CHECK(side("m") == std::vector<std::string>{"1.00", "1.00", "2.00"});
    CHECK(side("Σ") == std::vector<std::string>{"1.00", "1.00", "1.00"});
    CHECK(side("p_max") == std::vector<std::string>{"42.2 %", "42.2 %", "57.6 %"});
    CHECK(view.result.sides[0].bars[2] == doctest::Approx(0.9753 / std::log(3.0)).epsilon(1e-4));
    REQUIRE(view.rows.size() == 3);
    CHECK(view.rows[2].readouts[1].text == "57.6 %");
}

TEST_CASE("a sink stands in the sides of softmax, and the sum that it leaves stands first") {
    for (const AppState& call : call_states()) {
        const Tensor& sinks = call.document().inputs->params[Param::sinks];
        if (sinks.empty() || call.document().spec.drops()) continue;
        const AppState state = after(call, {GoToStage{Stage::weights}});
        const auto sides = build_step_view(state).result.sides;
        REQUIRE(sides.size() == 5);
        CHECK(sides[0].title == "Σ");
        CHECK(sides[3].title == "m");
        const auto m = sheet_of(state, Stage::masked).values;
        const auto a = sheet_of(state, Stage::weights).values;
        for (Index i = 0; i < m.rows; ++i) {
            double largest = sinks(0, 0, 0, state.head), sum = 0.0;
            for (const float logit : m.row(i)) largest = std::max<double>(largest, logit);
            for (const float weight : a.row(i)) sum += weight;
            CHECK(sides[3].cells[i] == cell_number(largest, 2));
            CHECK(sides[0].cells[i] == cell_number(sum, 2));
            CHECK(sum < 1.0);
        }
    }
}

TEST_CASE("softmax writes out the row that is looked at as bars over its columns' words") {
    AppState state =
        after(preset_state("cat-sat-mat"), {SetScaling{true}, GoToStage{Stage::weights}});
    const auto rows_of = [](const StepView& view) {
        std::vector<GridView> rows;
        for (const GridView& grid : view.operands)
            if (grid.slot == Slot::top) rows.push_back(grid);
        return rows;
    };
    apply(state, SelectCell{{Stage::weights, 1, 1}});
    std::vector<GridView> rows = rows_of(build_step_view(state));
    REQUIRE(rows.size() == 1);
    CHECK(rows[0].as_bars);
    CHECK(rows[0].title == "A[sat, ·]");
    CHECK(rows[0].ref(0, 2) == CellRef{Stage::weights, 1, 2});
    CHECK(rows[0].at(0, 0).value == doctest::Approx(0.1978).epsilon(1e-3));
    CHECK(build_step_view(state).sentence.queries.chips.size() == 3);
    apply(state, HoverCell{CellRef{Stage::weights, 2, 0}});
    CHECK(rows_of(build_step_view(state))[0].title == "A[mat, ·]");
    CHECK(build_step_view(after(state, {StepBy{-1}})).sentence.empty());
}

TEST_CASE("known answers stand in the cells; one word, two outputs: bank by its neighbour") {
    const StepView view =
        build_step_view(after(preset_state("cat-sat-mat"), {GoToStage{Stage::weights}}));
    CHECK(view.result.at(2, 2).value == doctest::Approx(0.5761).epsilon(1e-4));
    const StepView exercise =
        build_step_view(after(preset_state("exercise"), {GoToStage{Stage::output}}));
    CHECK(exercise.result.at(1, 1).value == doctest::Approx(0.7311).epsilon(1e-4));
    const StepView mat =
        build_step_view(after(preset_state("the-cat-sat-on-the-mat"), {GoToStage{Stage::weights}}));
    const double wanted[] = {.05, .70, .02, .03, .05, .15};
    for (Index j = 0; j < 6; ++j)
        CHECK(std::round(100 * mat.result.at(2, j).value) == std::round(100 * wanted[j]));
    const auto bank = [](const char* preset) {
        return build_step_view(after(preset_state(preset), {GoToStage{Stage::output}}))
            .result.at(1, 0)
            .value;
    };
    CHECK(bank("river-bank") > bank("savings-bank") + 0.3);
}

TEST_CASE("masked, infinite, NaN and 0 are four looks") {
    const AppState masked = after(initial_state(), {SetCausal{true}, GoToStage{Stage::masked}});
    CHECK(build_step_view(masked).result.at(0, 3).look == CellLook::masked);
    CHECK(build_step_view(masked).operands[1].title == "mask");
    const AppState nan = after(initial_state(), {SetCell{{Stage::x, 1, 0}, std::nan("")}});
    CHECK(build_step_view(nan).result.at(1, 0).look == CellLook::not_a_number);
    const AppState inf = after(initial_state(), {SetCell{{Stage::x, 1, 0}, HUGE_VAL}});
    CHECK(build_step_view(inf).result.at(1, 0).look == CellLook::infinite);
    CHECK(build_step_view(initial_state()).result.at(3, 1).look == CellLook::number);
}

TEST_CASE("a typed sentence shows word vector + position = X") {
    const StepView view =
        build_step_view(after(initial_state(), {SetSentence{"one two one"}, GoToEnd{false}}));
    REQUIRE(view.operands.size() == 2);
    CHECK(view.operands[0].at(0, 0).value == view.operands[0].at(2, 0).value);
    CHECK(view.result.row_labels[2] == "one₂");
}

TEST_CASE("joined heads say where each begins; a cell of them belongs to the head that made it") {
    AppState state = after(two_heads_state(), {GoToStage{Stage::output}});
    GridView joined = build_step_view(state).operands[0];
    const Index width = state.document().d_k;
    CHECK(joined.columns == 2 * width);
    CHECK(acted(state, {SelectCell{joined.ref(1, width + 1)}}).head == 1);
    CHECK(state.selected == CellRef{Stage::context, 1, 1});
    CHECK(build_step_view(state).operands[0].selected == std::pair<Index, Index>{1, width + 1});
    state = after(initial_state(),
                  {SetHeads{3}, SetKeyWidth{2}, ShowHead{1}, GoToStage{Stage::output}});
    joined = build_step_view(state).operands.at(0);
    REQUIRE(joined.groups.size() == 3);
    for (std::size_t head = 0; head < 3; ++head) {
        CHECK(joined.groups[head].first == 2 * static_cast<Index>(head));
        CHECK(joined.groups[head].label == "head " + std::to_string(head));
        CHECK(joined.groups[head].shown == (head == 1));
    }
    CHECK(joined.columns == 6);
    CHECK(build_step_view(after(initial_state(), {GoToStage{Stage::output}}))
              .operands.at(0)
              .groups.empty());
}

TEST_CASE("a step fades from the previous stage, at once with reduced motion") {
    AppState state = after(initial_state(), {StepBy{1}});
    CHECK(is_animating(state));
    CHECK(build_step_view(state).previous.has_value());
    CHECK_FALSE(is_animating(acted(state, {Tick{10.0}})));
    CHECK_FALSE(is_animating(after(initial_state(), {SetReducedMotion{true}, StepBy{1}})));
}

TEST_CASE("Step does not promise a next stage at the last one") {
    const AppState state = after(initial_state(), {GoToEnd{true}, SetWorkspace{"heads"}});
    CHECK(after(state, {SetWorkspace{"step"}}).message.text ==
          "This is the last stage: Home goes back to the first one.");
}

TEST_CASE("indices count from 0 wherever a person meets one") {
    const AppState state = after(two_heads_state(), {ShowHead{1}, SelectCell{{Stage::q, 0, 0}}});
    CHECK(after(state, {ShowHead{1}}).message.text == "Head 1 of heads 0 to 1.");
    CHECK(after(state, {ShowHead{2}}).message.text ==
          "There is no head 2 of sequence 0: the document has 2 heads and 1 sequence, counted "
          "from 0.");
    CHECK(axis_labels(state.document(), Axis::d_k, 3) == std::vector<std::string>{"0", "1", "2"});
    const std::string token = axis_labels(state.document(), Axis::query, 1).front();
    CHECK(cell_name(state, {Stage::q, 0, 0}) == "Q[" + token + ", 0]");
    CHECK(cell_name(state, {Stage::context, 0, -1}).find("context[head 0, ") == 0);
    CHECK(step_inspector(state).formula == "Σ_c X[" + token + ", c] · W_Q[c, 0]");
    CHECK(has(build_step_view(after(state, {GoToStage{Stage::weights}})).result.tooltip,
              "head 1 of 2"));
    CHECK(has(after(state, {SelectCell{{Stage::q, 99, 7}}}).message.text,
              "row 99, column 7, counted from 0"));
}

TEST_CASE("the bottom line says of a stage what the canvas says, that gradients are a rate") {
    for (const char* preset : {"the-cat-sat-down", "exercise", "three-heads"}) {
        const AppState state = after(preset_state(preset), {GoToEnd{true}});
        for (const Stage stage : ribbon_stages(state.document())) {
            const AppState there = after(state, {GoToStage{stage}});
            if (stage == state.stage) continue;
            CHECK(there.message.text == build_step_view(there).text);
            CHECK(there.message.muted);  // said once, where the canvas has its line
        }
    }
    CHECK(after(initial_state(), {GoToEnd{true}, GoToEnd{false}}).message.text ==
          "Each token is a row of numbers, given with the sentence. You can change any of them.");
    CHECK(after(initial_state(), {ShowGradients{true}}).message.text ==
          "Gradients of L = Σ output: how fast L grows with each number.");
}

TEST_CASE("of one head the joined heads are the context, of several the title names one") {
    const StepView one = build_step_view(after(initial_state(), {GoToEnd{true}}));
    CHECK(one.formula == "Y = context W_O");
    CHECK(one.title == "Output");
    const AppState two = after(two_heads_state(), {ShowHead{1}, GoToStage{Stage::scores}});
    CHECK(build_step_view(two).title == "Raw scores, head 1 of 2");
    CHECK(build_step_view(after(two, {GoToEnd{true}})).formula == "Y = concat(heads) W_O");
    const AppState output = after(initial_state(), {SelectCell{{Stage::output, 0, 0}}});
    CHECK(step_inspector(output).formula == "Σ_n context[The, n] · W_O[n, 0]");
}

TEST_CASE("an empty document says once what to do") {
    const AppState state = preset_state("empty");
    const StepView view = build_step_view(state);
    for (const RibbonItem& item : view.ribbon) CHECK(item.shape.empty());
    CHECK(step_inspector(state).hint.empty());
    CHECK(view.unavailable == "Type a sentence and press Enter.");
}

TEST_CASE("what a preset says of itself has one colon at most, and ends; Exercise counts from 0") {
    for (const Preset& preset : list_presets()) {
        const std::string text = preset_state(preset.key).message.text;
        CAPTURE(text);
        CHECK(std::ranges::count(text, ':') <= 1);
        CHECK(text.ends_with('.'));
    }
    const AppState state = preset_state("exercise");
    CHECK(axis_labels(state.document(), Axis::query, 2) == std::vector<std::string>{"q₀", "q₁"});
    CHECK(axis_labels(state.document(), Axis::key, 2) == std::vector<std::string>{"k₀", "k₁"});
}
