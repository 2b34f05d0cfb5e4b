#include "app/common/document/document.h"
#include "app/common/map/map_cell.h"
#include "app/common/workspace.h"
#include "app/workspaces/numerics/actions.h"
#include "app/workspaces/numerics/row.h"
#include "app/workspaces/numerics/text.h"
#include "app/workspaces/numerics/view.h"
#include "tests/view/large_sample.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

AppState numerics_state(const Actions& actions = {}) { return in_workspace("numerics", actions); }

std::string sentence_of(std::vector<double> logits, Index gain) {
    return numerics_sentence(run_all(std::move(logits), gain));
}

const NumericsCellView& cell(const NumericsView& view, SoftmaxAlgorithm algorithm,
                             FloatFormat format) {
    return view.cells[static_cast<std::size_t>(format)][static_cast<std::size_t>(algorithm)];
}

std::string text_of(const Line& line) {
    std::string text = line.label + ":";
    for (const Piece& piece : line.pieces) text += " " + piece.text;
    return text;
}

bool contains(const InspectorView& view, const std::string& text) {
    for (const std::vector<Line>* lines : {&view.lines, &view.geometry})
        for (const Line& line : *lines)
            if (has(text_of(line), text)) return true;
    return false;
}

}  // namespace

TEST_CASE("the sentence names the format that breaks and what repairs it, true of every row") {
    CHECK(sentence_of(teaching_logits(), 16) ==
          "At gain 16, naive softmax gives NaN in fp16; stable softmax is off by at most 1.8 ulp "
          "in every "
          "format; log-sum-exp is off by up to 26 ulp (fp16).");
    CHECK(sentence_of(teaching_logits(), 1)
              .starts_with("At gain 1, naive softmax is off by at most "));
    CHECK(sentence_of(teaching_logits(), 64)
              .starts_with("At gain 64, naive softmax gives NaN in fp16, bf16 and fp32; stable"));
    CHECK(has(sentence_of(teaching_logits(), 256), "gives NaN in every format; stable"));
    CHECK(sentence_of({1.0, kNaN, kInf}, 2).starts_with("The logit of key 1 is NaN"));
    CHECK(sentence_of({1.0, 2.0, kInf}, 2).starts_with("The logit of key 2 is ∞"));
    CHECK(sentence_of({-kInf, -kInf}, 2).starts_with("Every logit is −∞"));
    CHECK(sentence_of({0.0}, 4) ==
          "At gain 4, naive softmax is exact to the last bit in every format; stable softmax is "
          "exact to "
          "the last bit in every format.");
    CHECK(has(sentence_of({10.5, 10.5, 0.0}, 1), "gives only zeros in fp16; stable"));
    CHECK(has(sentence_of({-20.0, -30.0}, 1), "gives NaN in fp16; stable"));
    CHECK(has(sentence_of({1.0, 3.0}, 32768), "stable softmax gives NaN in fp16 and is"));
    CHECK(has(sentence_of(std::vector<double>(4096, 1.0), 1),
              "stable softmax is off by up to 1,920 ulp (bf16)"));
}

TEST_CASE("0, NaN and a bound that is rounded up") {
    CHECK(ulp_text(0.0) == "0 ulp");
    CHECK(ulp_text(0.51) == "0.6 ulp");
    CHECK(ulp_text(0.5) == "0.5 ulp");
    CHECK(ulp_text(56.2) == "57 ulp");
    CHECK(ulp_text(12345.5) == "12,346 ulp");
    CHECK(ulp_text(4.512e15) == "4.6·10¹⁵ ulp");
    CHECK(ulp_text(kNaN) == "NaN");
}

TEST_CASE("the matrix: twelve verdicts at gain 16 of the teaching row") {
    const NumericsView view = build_numerics_view(numerics_state());
    const auto& naive = cell(view, SoftmaxAlgorithm::naive, FloatFormat::fp16);
    CHECK(naive.verdict == NumericsVerdict::broken);
    CHECK(naive.text == "NaN");
    CHECK(naive.cause == "exp(48) > 65504 at key 1");
    CHECK(naive.broken_key == 1);
    CHECK(naive.selected == 1);
    CHECK(std::isnan(naive.bars[1].weight));
    CHECK(naive.bars[0].weight == 0.0);
    for (const FloatFormat format : {FloatFormat::bf16, FloatFormat::fp32, FloatFormat::fp64})
        CHECK(cell(view, SoftmaxAlgorithm::naive, format).verdict == NumericsVerdict::right);
    for (std::size_t f = 0; f < kFloatFormatCount; ++f) {
        const auto& stable = cell(view, SoftmaxAlgorithm::stable, static_cast<FloatFormat>(f));
        CHECK(stable.verdict == NumericsVerdict::right);
        CHECK(stable.bars[1].exact == doctest::Approx(0.8664).epsilon(1e-3));
        CHECK_FALSE(stable.broken_key);
    }
    CHECK(view.rows[0].largest == "≤ 65504");
    CHECK(view.rows[1].largest == "≤ 3.39·10³⁸");
}

TEST_CASE("a bar is the error of one key, on one axis for all formats and algorithms") {
    const NumericsView view = build_numerics_view(numerics_state());
    const std::vector<long double> exact = exact_softmax(teaching_logits(), 16.0);
    for (const auto& row : view.cells)
        for (const NumericsCellView& one : row) {
            CAPTURE(info(one.format).name);
            REQUIRE(one.bars.size() == exact.size());
            double most_ulp = 0.0;
            for (std::size_t j = 0; j < one.bars.size(); ++j) {
                const NumericsBar& bar = one.bars[j];
                CHECK(bar.ulp == static_cast<double>(ulp_at(one.format, exact[j])));
                if (std::isnan(bar.weight)) {
                    CHECK(std::isnan(bar.error));
                    continue;
                }
                const long double error = std::abs(static_cast<long double>(bar.weight) - exact[j]);
                CHECK(bar.error == static_cast<double>(error));
                CHECK(bar.error <= view.axis.high);
                most_ulp = std::max(most_ulp, bar.error / bar.ulp);
                CHECK(bar.off == (bar.error > kRightUlp * bar.ulp));
            }
            const bool any_off = std::ranges::any_of(one.bars, &NumericsBar::off);
            CHECK(any_off == (one.verdict == NumericsVerdict::off));
            if (one.verdict != NumericsVerdict::broken) CHECK(one.text == ulp_text(most_ulp));
        }
    CHECK(view.axis.low == doctest::Approx(1e-17));  // 2⁻⁵³ is the spacing of fp64 at 0.87
    CHECK(view.axis.high == 1.0);
    CHECK(view.axis.labels.front() == "1");
    // a row that softmax has no value of
    const NumericsView none =
        build_numerics_view(numerics_state({SetNumericsLogits{{-kInf, -kInf}}}));
    CHECK(std::isnan(none.cells[0][0].bars[0].error));
    CHECK(none.axis.high == 1.0);
    // log-sum-exp of large logits in a short format is off by more than 1
    const NumericsView far = build_numerics_view(
        numerics_state({SetNumericsLogits{{1000.0, 1001.0, 1002.0, 1000.5}}, SetNumericsGain{1}}));
    double most = 0.0;
    for (const auto& row : far.cells)
        for (const NumericsCellView& one : row)
            for (const NumericsBar& bar : one.bars)
                if (std::isfinite(bar.error)) most = std::max(most, bar.error);
    CHECK(far.axis.high >= most);
}

TEST_CASE("the curves name from which gain on each format breaks") {
    AppState state = numerics_state();
    CHECK(build_numerics_view(state).stale);
    REQUIRE(requested_numerics(state));
    answer_all(state);
    CHECK_FALSE(requested_numerics(state));
    const NumericsView view = build_numerics_view(state);
    CHECK_FALSE(view.stale);
    // 3 g passes 11.09 at 4, 88.7 at 32 (28 gives 84), 709.78 at 256 (224 gives 672)
    CHECK(view.columns[0].breaks ==
          "× fails: fp16 from gain 4, bf16 from gain 30, fp32 from gain 30, fp64 from gain 237");
    CHECK(view.columns[1].breaks == "× fails: fp16 from gain 21,840");  // 3 · 21840 rounds to ∞
    REQUIRE(view.columns[0].plot.curves.size() == 4);
    CHECK(view.columns[0].plot.marks.size() == 4);
    CHECK(view.columns[0].plot.marks[0].x == 4.0);
    CHECK(view.columns[0].plot.marker_texts[0] == "NaN");
    state = after(std::move(state), {SetNumericsGain{2}});
    CHECK_FALSE(requested_numerics(state));  // of the row, whatever the gain is
    state = after(std::move(state), {SetNumericsLogits{{kNaN, 1.0}}});
    answer_all(state);
    CHECK_FALSE(requested_numerics(state));  // NaN is the same as itself
}

TEST_CASE("the inspector writes every step, where it broke, what is off, and what rounding did") {
    const InspectorView view = numerics_inspector(numerics_state());
    CHECK(view.title == "naive softmax in fp16, key 1");
    CHECK(view.value == "NaN");
    CHECK(contains(view, "s = gain · x: 16 · 3 = 48"));
    CHECK(contains(view, "e: exp 48 = 7.0167359121·10²⁰ → ∞ ; beyond 65504, so rounded to ∞"));
    CHECK(contains(view, "a: ∞ / ∞ = NaN ; ∞/∞ is undefined: NaN"));
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 6);
    CHECK(view.table->rows[1].chosen);
    const InspectorView right = numerics_inspector(
        numerics_state({SelectNumericsCell{SoftmaxAlgorithm::stable, FloatFormat::fp16, 2}}));
    CHECK(contains(right, "m = max s: 48"));
    CHECK(contains(right, "s − m: 46 − 48 = −2"));
    CHECK(contains(right, "e: exp (−2) = 0.13533528324 → 0.13538"));
    CHECK(contains(right, "exact: 0.117"));
    CHECK(contains(right, "1 ulp: 6.1·10⁻⁵"));
    CHECK(has(right.as_python, "np.float16"));
    CHECK(has(right.as_text, "s − m: 46 − 48 = −2"));
    const InspectorView lse = numerics_inspector(
        numerics_state({SelectNumericsCell{SoftmaxAlgorithm::log_sum_exp, FloatFormat::bf16, 0}}));
    CHECK(contains(lse, "lse: 48 + 0.1387"));
    // 1.1 · 16 = 17.6 is 17.625 in bf16: spacing 1/8
    const AppState state =
        numerics_state({SetNumericsLogits{{1.1, 1.0}},
                        SelectNumericsCell{SoftmaxAlgorithm::stable, FloatFormat::bf16, 1}});
    CHECK(contains(numerics_inspector(state), "error of the steps after s: 0."));
    const NumericsRuns runs = run_all({1.1, 1.0}, 16);
    CHECK(runs.of(SoftmaxAlgorithm::stable, FloatFormat::bf16).error.ulp > 2.0);
}

TEST_CASE("gain, logits and row are undone, the cell is not; what is out of range is refused") {
    AppState state =
        numerics_state({SetNumericsGain{64}, SetNumericsLogits{{1.0, 2.0}},
                        SelectNumericsCell{SoftmaxAlgorithm::stable, FloatFormat::fp64, 99}});
    CHECK(numerics_look(state).key == 1);
    CHECK(state.message.text == "Logits 1, 2.");
    CHECK(numerics_controls(acted(state, {Undo{}})).logits == teaching_logits());
    CHECK(numerics_controls(state).gain == 64);
    CHECK(numerics_controls(acted(state, {Undo{}})).gain == 16);
    CHECK(numerics_look(state).format == FloatFormat::fp64);
    state = after(std::move(state), {SetSeed{4}, SetNumericsGain{8}, Undo{}, Undo{}});
    CHECK(numerics_controls(state).gain == 16);
    CHECK(state.document().seed == 1);
    const AppState start = numerics_state();
    const auto refused = [&](const Action& action) {
        const AppState tried = after(start, {action});
        CHECK(tried.now == start.now);
        return tried.message.text;
    };
    CHECK(refused(SetNumericsGain{0}) == "Gain = 0: it must be 1 to 65536.");
    CHECK(refused(SetNumericsGain{65537}) == "Gain = 65537: it must be 1 to 65536.");
    CHECK(refused(SetNumericsLogits{{}}) == "The number of logits is 0: it must be 1 to 4096.");
    CHECK(has(refused(SetNumericsLogits{{1e301}}), "at most 10³⁰⁰"));
    CHECK(after(start, {SetNumericsLogits{{kInf, kNaN, -kInf}}}).now == start.now + 1);
}

TEST_CASE("the row of the document is the one that Step looks at, masked keys −∞") {
    AppState state =
        after(initial_state(),
              {SetCausal{true}, GoToStage{Stage::weights}, SelectCell{{Stage::weights, 1, 0}},
               SetWorkspace{"numerics"}, SetNumericsRow{LogitRow::document}});
    const std::vector<double> row = shown_logits(state);
    const auto scores = (*state.trace)[Stage::scaled].matrix(0, 0);
    REQUIRE(row.size() == 4);
    CHECK(row[0] == scores(1, 0));
    CHECK(row[1] == scores(1, 1));
    CHECK(row[2] == -kInf);
    const NumericsView view = build_numerics_view(state);
    CHECK(has(view.note, "4 logits of query cat"));
    CHECK(view.row_shown == "of the document");
    const AppState none = after(empty_state(), {SetNumericsRow{LogitRow::document}});
    CHECK(numerics_controls(none).row == LogitRow::typed);
    CHECK(none.message.severity == Severity::error);
}

TEST_CASE("a session and a journal keep the row, also ∞ and NaN, the gain and the cell") {
    const AppState state =
        numerics_state({SetNumericsLogits{{1.0, -kInf, kNaN, kInf}}, SetNumericsGain{128},
                        SelectNumericsCell{SoftmaxAlgorithm::log_sum_exp, FloatFormat::bf16, 2}});
    const AppState read = reopened(state);
    CHECK(numerics_controls(read) == numerics_controls(state));
    CHECK(numerics_look(read).algorithm == SoftmaxAlgorithm::log_sum_exp);
    CHECK(numerics_look(read).key == 2);
    CHECK(shown_workspace(read).key == "numerics");
    const auto line = to_journal(SetNumericsLogits{{1.5, -kInf, kNaN}});
    REQUIRE(line);
    CHECK(*line == R"({"action":"set_numerics_logits","logits":[1.5,"-inf","nan"]})");
    const AppState again = after(numerics_state(), {from_journal(*line).value()});
    CHECK(same_numbers(numerics_controls(again).logits, {1.5, -kInf, kNaN}));
}

TEST_CASE("stops of the gain") {
    CHECK(next_gain(16, 1) == 32);
    CHECK(next_gain(17, -1) == 16);
    CHECK(next_gain(1, -1) == 1);
    CHECK(next_gain(kMostGain, 1) == kMostGain);
    CHECK(nearest_gain(0.1) == 1);
    CHECK(nearest_gain(21.0) == 20);
    CHECK(nearest_gain(1e9) == kMostGain);
}

TEST_CASE("the document's row ends with its sink, and the note says so") {
    const auto sinks = [](Inputs& inputs, AttentionSpec&) {
        inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2}, {0.5F, -1.0F});
    };
    const AppState state =
        after(call_state("numerics", sinks), {SetNumericsRow{LogitRow::document}});
    CHECK(shown_logits(state).size() == 5);
    CHECK(shown_logits(state).back() == 0.5);
    CHECK(shown_logits(after(state, {ShowHead{1, 0}})).back() == -1.0);
    CHECK(build_numerics_view(state).note ==
          "5 logits of query 0, head 0 of 2; the last one is the sink.");
}
