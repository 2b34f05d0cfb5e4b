// The Compare workspace: pins, what differs, signed differences, and what gives a weight its target.

#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "app/workspaces/compare/actions.h"
#include "app/workspaces/compare/reach.h"
#include "app/workspaces/compare/view.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

AppState compare_state(const Actions& actions = {}) {
    return after(after(preset_state("the-cat-sat-down"), {SetWorkspace{"compare"}}), actions);
}

/// Softmax of the row after its query moved by delta.
double weight_after(const ReachRow& row, std::size_t j, const std::vector<double>& delta) {
    double sum = 0.0;
    double own = 0.0;
    for (std::size_t m = 0; m < row.logits.size(); ++m) {
        double s = row.logits[m];
        for (Index c = 0; c < row.width; ++c) s += row.slope(m, c) * delta[c];
        sum += std::exp(s);
        if (m == j) own = std::exp(s);
    }
    return own / sum;
}

double norm(const std::vector<double>& v) {
    double sum = 0.0;
    for (const double x : v) sum += x * x;
    return std::sqrt(sum);
}

/// Of the weights in the head shown.
float weight_at(const AppState& state, Index row, Index column) {
    return *value_at(state, {Stage::weights, row, column});
}

}  // namespace

TEST_CASE("a score alone moves by the difference of logits; of two opposite keys q is known") {
    const std::vector<double> two{0.0, 0.0};  // weights ½, ½
    CHECK(*score_change(two, 0, 0.75) == doctest::Approx(std::log(3.0)));
    const std::vector<double> far{-1000.0, 0.0};
    CHECK(*score_change(far, 0, 0.5) == doctest::Approx(1000.0));
    const std::vector<double> masked{-INFINITY, 0.0};
    CHECK_FALSE(score_change(masked, 0, 0.5));
    CHECK_FALSE(score_change(masked, 1, 0.5));  // an only key
    CHECK_FALSE(score_change(two, 0, 1.0));
    CHECK_FALSE(score_change(two, 0, std::nan("")));
    // s = (δ, −δ): weight 0 is 1 / (1 + exp(−2δ)), so δ = ½ ln 3 gives ¾ and −½ ln 3 gives ¼.
    const ReachRow row{{0.0, 0.0}, {1.0, -1.0}, 1};
    CHECK((*smallest_query_change(row, 0, 0.75))[0] == doctest::Approx(0.5 * std::log(3.0)));
    CHECK((*smallest_query_change(row, 0, 0.25))[0] == doctest::Approx(-0.5 * std::log(3.0)));
    CHECK((*smallest_query_change(row, 0, 0.5))[0] == 0.0);
}

TEST_CASE("a query change reaches its target, and no shorter one of many others does") {
    const ReachRow row{{0.3, -0.4, 1.1}, {1.0, 0.2, -0.3, 0.9, 0.4, -1.2}, 2};
    for (const double target : {0.01, 0.2, 0.6, 0.97}) {
        const auto change = smallest_query_change(row, 0, target);
        REQUIRE(change);
        CHECK(weight_after(row, 0, *change) == doctest::Approx(target).epsilon(1e-8));
        const bool raises = weight_after(row, 0, {0.0, 0.0}) < target;
        for (int n = 0; n < 360; ++n) {
            const double angle = n * std::acos(-1.0) / 180;
            const double length = 0.999 * norm(*change);
            const double other =
                weight_after(row, 0, {length * std::cos(angle), length * std::sin(angle)});
            CHECK((raises ? other < target : other > target));
        }
    }
}

TEST_CASE("a query change that cannot be says why") {
    const ReachRow row{{0.0, -INFINITY, 0.0}, {1.0, 1.0, 1.0}, 1};
    CHECK(has(smallest_query_change(row, 1, 0.5).error().text(), "masked"));
    CHECK(has(smallest_query_change(row, 0, 0.9).error().text(), "no query"));
    CHECK(has(smallest_query_change(row, 0, 0.1).error().text(), "changes equally"));
    CHECK(has(smallest_query_change(row, 0, 1.0).error().text(), "infinite"));
    CHECK(has(smallest_query_change({{1.0}, {1.0}, 1}, 0, 0.5).error().text(), "one key"));
    const ReachRow between{{0.0, 0.0, 0.0}, {0.0, 1.0, -1.0}, 1};  // never more than ⅓
    CHECK(has(smallest_query_change(between, 0, 0.9).error().text(), "no query"));
}

TEST_CASE("a signed difference keeps 0, ∞ and NaN apart") {
    CHECK(signed_difference(1.0F, 3.0F) == 2.0F);
    CHECK(signed_difference(-kInf, -kInf) == 0.0F);
    CHECK(signed_difference(kNaN, kNaN) == 0.0F);
    CHECK(std::isnan(signed_difference(1.0F, kNaN)));
    CHECK(signed_difference(-kInf, 1.0F) == kInf);
    const std::vector<float> a{1.0F, 0.0F};
    const std::vector<float> b{0.25F, 0.75F};
    CHECK(total_variation(a, b) == doctest::Approx(0.75));
}

TEST_CASE("the opening state is the baseline until a person pins one; pins stay out of sessions") {
    AppState state = compare_state();
    CHECK(compare_look(state).pins.empty());
    // First it is compared with the other scaling.
    const CompareView first = build_compare_view(state);
    CHECK(has(first.point, "16 of 16 numbers of"));
    CHECK(has(first.point_b, "scaling off → ÷ √4"));
    CHECK(first.grids.size() == 3);
    CHECK(weight_at(state, 0, 0) == doctest::Approx(first.grids[1].at(0, 0).value));
    const float before = weight_at(state, 1, 2);
    const AppState changed = after(state, {SetScaling{false}});
    const CompareView view = build_compare_view(changed);
    CHECK(has(view.point_b, "scaling ÷ √4 → off"));
    REQUIRE(view.grids.size() == 3);
    CHECK(view.grids[0].at(1, 2).value == doctest::Approx(before));
    CHECK(view.grids[2].plus);
    CHECK_FALSE(view.grids[0].plus);
    CHECK(compare_look(reopened(changed)).pins.empty());
    const AppState pinned = after(changed, {PinBaseline{}});
    CHECK(compare_look(pinned).pins.size() == 1);
    CHECK(has(build_compare_view(pinned).point, "Nothing differs"));
}

TEST_CASE(
    "on entering the cell of the largest change is selected, and stays while the state changes") {
    AppState state = after(preset_state("three-heads"), {SetWorkspace{"compare"}});
    const CompareLook& look = compare_look(state);
    REQUIRE(look.shown_pin() != nullptr);
    const auto change =
        largest_change(compared_stage(state, pinned_state(state, *look.shown_pin())));
    REQUIRE(change);
    CHECK(look.cell == change->cell);
    CHECK_FALSE(look.cell == large::Cell{0, 0});
    CHECK(has(build_compare_view(state).point,
              cell_name(state, {Stage::weights, look.cell.row, look.cell.column})));
    play(state, {SelectCompareCell{1, 1}, SetTemperature{2.0}});
    CHECK(compare_look(state).cell == large::Cell{1, 1});
}

TEST_CASE("a pin is compared with later states") {
    AppState state = compare_state();
    CHECK(has(acted(state, {PinBaseline{}}).message.text, "baseline 1"));
    CHECK(has(build_compare_view(state).point, "Nothing differs"));
    const float before = weight_at(state, 1, 2);
    state = after(state, {SetScaling{false}});
    const CompareView view = build_compare_view(state);
    CHECK(has(view.point_b, "scaling ÷ √4 → off"));
    REQUIRE(view.grids.size() == 3);
    CHECK(view.grids[0].at(1, 2).value == doctest::Approx(before));
    CHECK(view.grids[2].at(1, 2).value == doctest::Approx(weight_at(state, 1, 2) - before));
    CHECK(weight_at(state, 1, 2) != before);
    REQUIRE(view.grids[2].sides.size() == 2);
    CHECK(has(view.point, "of 16 numbers of"));
}

TEST_CASE("every setting that changes a number is named alone; other sizes have no difference") {
    const AppState pinned = compare_state({PinBaseline{}});
    const auto named = [&](const Actions& actions) {
        const AppState state = after(pinned, actions);
        std::string all;
        for (const Difference& each : differences(state, compare_look(state).pins[0]))
            all += difference_text(each) + "; ";
        return all;
    };
    CHECK(named({}).empty());
    CHECK(named({SetTemperature{2.0}}) == "temperature 1.00 → 2.00; ");
    CHECK(named({SetCausal{true}}) == "causal mask off → top-left; ");
    CHECK(named({SetWindow{1}}) == "window none → 1; ");
    CHECK(named({SetCell{{Stage::x, 0, 0}, 9.5}}) == "1 of 16 numbers of X; ");
    CHECK(named({SetCausal{true}, SetCausal{false}}).empty());
    const AppState state = compare_state({PinBaseline{}, SetSentence{"one two three four five"}});
    const CompareView view = build_compare_view(state);
    CHECK(view.grids.size() == 2);
    CHECK(has(view.point, "Cannot subtract"));
    CHECK(has(view.point, "4 × 4 in the baseline and 5 × 5 now"));
}

TEST_CASE("nine pins, flipped and unpinned; blink shows one side in the same place") {
    AppState state = compare_state();
    for (int n = 0; n < 10; ++n) state = after(state, {SetTemperature{1.0 + n}, PinBaseline{}});
    CHECK(compare_look(state).pins.size() == kMostPins);
    CHECK(has(state.message.text, "9 baselines are pinned"));
    CHECK(compare_look(acted(state, {ChooseBaseline{2}})).baseline == 2);
    CHECK(compare_look(acted(state, {Unpin{0}})).baseline == 1);
    CHECK(after(state, {ChooseBaseline{8}}).message.severity == Severity::warning);
    CHECK(compare_look(after(state, {Undo{}})).pins.size() == 8);
    state = compare_state({SetBlink{1}});
    CHECK_FALSE(compare_look(state).blink);  // nothing is pinned
    state = after(state, {PinBaseline{}, SetTemperature{3.0}, SetBlink{0}});
    const CompareView a = build_compare_view(state);
    REQUIRE(a.grids.size() == 1);
    const CompareView b = build_compare_view(after(state, {SetBlink{1}}));
    CHECK(a.grids[0].at(0, 1).value != b.grids[0].at(0, 1).value);
    CHECK_FALSE(compare_look(after(state, {SetBlink{std::nullopt}})).blink);
}

TEST_CASE("a word moved for a target gives the engine that weight") {
    for (const double target : {0.1, 0.8}) {
        const AppState before = compare_state({SelectCompareCell{1, 2}, SetTargetWeight{target}});
        const AppState state = after(before, {ApplyTargetWeight{true}});
        CHECK(weight_at(state, 1, 2) == doctest::Approx(target).epsilon(1e-5));
        CHECK(std::abs(weight_at(before, 1, 2) - target) > 1e-3);
        CHECK(state.now == before.now + 1);  // one step of undo
        CHECK(weight_at(after(state, {Undo{}}), 1, 2) == weight_at(before, 1, 2));
    }
}

TEST_CASE("a word that is query and key, a masked pair, a target of 1, an only word") {
    const AppState state = compare_state({SelectCompareCell{1, 1}});
    CHECK(has(reach_of(state).why_no_word, "both query and key"));
    CHECK(after(state, {ApplyTargetWeight{true}}).now == state.now);
    const AppState masked = compare_state({SetCausal{true}, SelectCompareCell{0, 3}});
    CHECK(has(reach_view(masked).missing_data, "masked"));
    const AppState one = compare_state({SetTargetWeight{1.0}});
    CHECK(compare_look(one).target == 0.5);
    CHECK(one.message.severity == Severity::warning);
    const AppState empty = after(preset_state("empty"), {SetWorkspace{"compare"}, PinBaseline{}});
    CHECK(compare_look(empty).pins.empty());
    CHECK_FALSE(build_compare_view(empty).missing_data.empty());
    CHECK(has(reach_view(compare_state({SetSentence{"word"}, PinBaseline{}})).missing_data,
              "one key"));
}

TEST_CASE("the query change found gives the target weight of the scores shown") {
    for (const Score score : {Score::dot, Score::relative}) {
        const AppState state =
            compare_state({SetScore{score}, SelectCompareCell{1, 2}, SetTargetWeight{0.7}});
        const Reach reach = reach_of(state);
        REQUIRE_FALSE(reach.query.empty());
        const auto scores = sheet_of(state, Stage::masked).values;
        const auto keys = sheet_of(state, Stage::k).values;
        const double factor = 1.0 / std::sqrt(static_cast<double>(keys.columns));
        double sum = 0.0;
        double own = 0.0;
        for (Index j = 0; j < keys.rows; ++j) {
            double s = scores(1, j);
            for (Index c = 0; c < keys.columns; ++c) s += factor * keys(j, c) * reach.query[c];
            sum += std::exp(s);
            if (j == 2) own = std::exp(s);
        }
        CHECK(own / sum == doctest::Approx(0.7).epsilon(1e-8));
        CHECK(reach.now == doctest::Approx(weight_at(state, 1, 2)).epsilon(1e-5));
    }
}

TEST_CASE("a session keeps stage, cell, target and what is pinned") {
    const AppState state =
        compare_state({PinBaseline{}, SetTemperature{2.0}, SetBackend{"staged"}, PinBaseline{},
                       SetCausal{true}, ShowCompareStage{Stage::scores}, SelectCompareCell{2, 1},
                       SetTargetWeight{0.9}, ChooseBaseline{0}});
    const AppState read = reopened_alike(state);
    CHECK(compare_look(read).stage == Stage::scores);
    CHECK(compare_look(read).cell == large::Cell{2, 1});
    CHECK(compare_look(read).target == 0.9);
    CHECK(compare_look(read).baseline == 0);
    REQUIRE(compare_look(read).pins.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
        const ComparePin& found = compare_look(read).pins[n];
        const ComparePin& pin = compare_look(state).pins[n];
        CHECK(found.text == pin.text);
        CHECK(found.backend == pin.backend);
        CHECK((*found.trace)[Stage::weights] == (*pin.trace)[Stage::weights]);
    }
    CHECK(has(build_compare_view(read).point_b, "temperature 1.00 → 2.00"));

    AppState other = compare_state({PinBaseline{}});
    restore(other, read);
    CHECK(compare_look(other).pins.size() == 2);
}

TEST_CASE("what a session pins is what is open, pinned once; a cell that A alone has is held") {
    AppState state = compare_state({PinBaseline{}});
    const AppState read = reopened(state);
    REQUIRE(compare_look(read).pins.size() == 1);
    CHECK(compare_look(read).pins[0].document == read.shared_document());
    CHECK(compare_look(after(read, {PinBaseline{}})).pins.size() == 1);
    state = compare_state({PinBaseline{}, SelectCompareCell{3, 3}, SetSentence{"two words"}});
    CHECK(compare_look(state).cell == large::Cell{3, 3});
    CHECK(compare_look(reopened_alike(state)).cell == large::Cell{3, 3});
}

TEST_CASE("a pin that cannot be read is left out, and named; too many are refused") {
    const AppState state = compare_state({PinBaseline{}, SetTemperature{2.0}, PinBaseline{}});
    const std::string text = session_to_json(state);
    const auto with = [&](const char* from, const char* to) {
        return session_from_json(replaced(text, from, to), "s.json", {});
    };
    const auto read =
        with("\"pins\": [{\"batch\": 0, \"head\": 0", "\"pins\": [{\"batch\": 0, \"head\": 7");
    REQUIRE(read);
    REQUIRE(compare_look(*read).pins.size() == 1);
    CHECK(compare_look(*read).baseline == 0);  // the second pin, which was chosen
    CHECK(compare_look(*read).pins[0].text == compare_look(state).pins[1].text);
    REQUIRE(read->notice);
    CHECK(has(read->notice->text, "Not pinned: s.json pin 1 has 'head' = 7"));
    const auto later = with("\"pins\": [{", "\"pins\": [{\"colour\": 1, ");
    REQUIRE(later);
    CHECK(compare_look(*later).pins.size() == 2);
    CHECK(compare_look(*later).baseline == 1);
    REQUIRE(later->notice);
    CHECK(has(later->notice->text, "Not used, and not kept, of s.json pin 1: 'colour'"));
    const auto wrong = with("\"pins\": [", "\"pins\": 3, \"kept\": [");
    REQUIRE_FALSE(wrong);
    CHECK(has(wrong.error().text(), "'pins'"));
}

TEST_CASE("B pins where the workspace has no use for it, Ctrl+B everywhere") {
    for (const WorkspaceInfo* workspace : workspaces()) {
        const AppState state = after(initial_state(), {SetWorkspace{std::string(workspace->key)}});
        int pins = 0;
        int with_b = 0;
        for (const Command& command : commands(state)) {
            const bool b = command.chord == plain(Key::b) || command.also == plain(Key::b);
            with_b += b ? 1 : 0;
            pins += command.action.is<PinBaseline>() ? 1 : 0;
        }
        CHECK(pins == 1);
        CHECK(with_b <= 1);
    }
}

TEST_CASE("what moved between rows with a sink counts the sink's share") {
    const auto sinks = [](Inputs& inputs, AttentionSpec&) {
        inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {0.5F, -1.0F});
    };
    const AppState state =
        after(call_state("compare", sinks),
              {ShowCompareStage{Stage::weights}, PinBaseline{}, SetTemperature{0.25}});
    const Tensor& b = (*state.trace)[Stage::weights];
    const ComparePin& pin = compare_look(state).pins.front();
    const Tensor& a = (*pin.trace)[Stage::weights];
    const GridView grid = build_compare_view(state).grids.back();
    REQUIRE(grid.sides.size() == 2);
    for (Index i = 0; i < 4; ++i) {
        double kl = 0.0, moved = 0.0, rest_a = 1.0, rest_b = 1.0;
        for (Index j = 0; j < 4; ++j) {
            const double x = a(0, 0, i, j), y = b(0, 0, i, j);
            kl += x * std::log(x / y);
            moved += std::abs(x - y);
            rest_a -= x, rest_b -= y;
        }
        kl += rest_a * std::log(rest_a / rest_b);
        moved += std::abs(rest_a - rest_b);
        CHECK(grid.sides[0].cells[i] == cell_number(kl, 2));
        CHECK(grid.sides[1].cells[i] == cell_number(moved / 2, 2));
    }
    CHECK(grid.sides[1].tooltip ==
          "total variation ½ Σ_j |b − n| of each row, including the sink, b the baseline, n now: "
          "if both sum to 1, the fraction of the weight that moved");
}
