// The numbers are those of a script in another language: cat sat mat with Q = K = V = X, so that
// X Xᵀ = [[1,0,1],[0,1,1],[1,1,2]] and d_k = 2. A is the scaled dot product where nothing else is said.

#include "app/common/document/document.h"
#include "app/common/workspace.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/text.h"
#include "app/workspaces/kinds/view.h"
#include "core/bias.h"
#include "core/cast.h"
#include "core/engine.h"
#include "tests/support/random.h"
#include "tests/support/results.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

using Matrix = std::array<std::array<double, 3>, 3>;

AppState kinds_state(const Actions& actions = {}) {
    return after(after(preset_state("cat-sat-mat"),
                       {SetWorkspace{"kinds"}, ChooseKinds{"rope"}, CopyKind{KindsSide::a}}),
                 actions);
}
const KindsResult& result_of(const AppState& state) {
    REQUIRE(kinds_look(state).result);
    REQUIRE(kinds_look(state).result->whole());
    return *kinds_look(state).result;
}

void check_weights(const KindComputed& side, const Matrix& expected) {
    for (Index i = 0; i < 3; ++i)
        for (Index j = 0; j < 3; ++j) {
            INFO("i ", i, ", j ", j);
            CHECK(side.weights()(i, j) == doctest::Approx(expected[i][j]).epsilon(1e-10));
        }
}

constexpr Matrix kScaled{{{0.401112092680, 0.197775814640, 0.401112092680},
                          {0.197775814640, 0.401112092680, 0.401112092680},
                          {0.248255078258, 0.248255078258, 0.503489843485}}};

struct Known {
    std::pair<const char*, const char*> setting;  // and its value
    Matrix weights;
    large::Cell at;
    std::array<double, 4> numbers;  // difference, largest and relative error, entropy of row 0
};
const Known kKnown[] = {{{"scaling", "off"},
                         {{{0.422318798252, 0.155362403497, 0.422318798252},
                           {0.155362403497, 0.422318798252, 0.422318798252},
                           {0.211941557617, 0.211941557617, 0.576116884766}}},
                         {2, 2},
                         {{0.072627041281, 0.042413411143, 0.047707462995, 1.017357207555}}},
                        {{"position", "rope-half"},
                         {{{0.682549106398, 0.185623022169, 0.131827871433},
                           {0.105333176987, 0.387317612795, 0.507349210219},
                           {0.054696042457, 0.370955922197, 0.574348035346}}},
                         {0, 0},
                         {{0.281437013718, 0.281437013718, 0.211792979822, 0.840393126500}}},
                        {{"position", "alibi"},
                         {{{0.599901357075, 0.179407266926, 0.220691375999},
                           {0.156938782460, 0.524771321632, 0.318289895908},
                           {0.122523353198, 0.202006858574, 0.675469788228}}},
                         {0, 0},
                         {{0.198789264395, 0.198789264395, 0.154432980121, 0.948245146656}}},
                        {{"softcap", "1"},
                         {{{0.393086243845, 0.213827512309, 0.393086243845},
                           {0.213827512309, 0.393086243845, 0.393086243845},
                           {0.300977902120, 0.300977902120, 0.398044195760}}},
                         {2, 2},
                         {{-0.105445647725, 0.052722823862, 0.044485810690, 1.063917124567}}},
                        {{"sink", "0"},
                         {{{0.334880774663, 0.165119225337, 0.334880774663},
                           {0.165119225337, 0.334880774663, 0.334880774663},
                           {0.221181016370, 0.221181016370, 0.448580532956}}},
                         {0, 0},
                         {{-0.066231318016, 0.132462636033, 0.147384821201, 1.030100384092}}},
                        {{"mask", "causal"},
                         {{{1.0, 0.0, 0.0},
                           {0.330238450673, 0.669761549327, 0.0},
                           {0.248255078258, 0.248255078258, 0.503489843485}}},
                         {0, 0},
                         {{0.598887907320, 0.598887907320, 0.394357040925, 0.0}}},
                        {{"mask", "window"},
                         {{{0.669761549327, 0.330238450673, 0.0},
                           {0.197775814640, 0.401112092680, 0.401112092680},
                           {0.0, 0.330238450673, 0.669761549327}}},
                         {0, 2},
                         {{-0.401112092680, 0.268649456647, 0.224557537825, 0.634347374350}}}};

}  // namespace

TEST_CASE("A is what Step computes; one setting of B: weights, largest difference, output") {
    const AppState same = kinds_state();
    check_weights(result_of(same).a, kScaled);
    check_weights(result_of(same).b, kScaled);
    CHECK(result_of(same).difference.value == 0.0);
    CHECK(result_of(same).error.largest == 0.0);
    for (const Known& known : kKnown) {
        const auto& [setting, value] = known.setting;
        INFO("setting ", setting, ", value ", value);
        const AppState state = kinds_state({b_is(setting, value)});
        const KindsResult& result = result_of(state);
        check_weights(result.a, kScaled);
        check_weights(result.b, known.weights);
        CHECK(result.difference.row == known.at.row);
        CHECK(result.difference.column == known.at.column);
        const auto& [difference, largest, relative, entropy] = known.numbers;
        CHECK(result.difference.value == doctest::Approx(difference).epsilon(1e-9));
        CHECK(result.difference.compared == 9);
        CHECK(result.error.largest == doctest::Approx(largest).epsilon(1e-9));
        CHECK(result.error.relative == doctest::Approx(relative).epsilon(1e-9));
        CHECK(std::abs(result.b.entropy[0] - entropy) < 1e-10);
    }
}

TEST_CASE("cosine at a quarter's temperature") {
    const AppState state =
        kinds_state({b_is("score", "cosine"), b_is("scaling", "off"), b_is("temperature", "0.25")});
    check_weights(result_of(state).b, {{{0.752901610121, 0.013789874010, 0.233308515869},
                                        {0.013789874010, 0.752901610121, 0.233308515869},
                                        {0.191311971676, 0.191311971676, 0.617376056649}}});
    CHECK(result_of(state).difference.value == doctest::Approx(0.351789517441).epsilon(1e-9));
    CHECK(result_of(state).difference.equal == 1);  // sat → sat too
    CHECK(kinds_controls(state) == kinds_controls(after(state, {ChooseKinds{"dot-cosine"}})));
}

TEST_CASE("linear attention: φ(q)·φ(k) shared by rows, with fewer operations and less kept") {
    // φ(1) = 2 and φ(0) = 1: products 5 4 6, 4 5 6, 6 6 8
    const AppState state = kinds_state({ChooseKinds{"linear"}});
    check_weights(result_of(state).b, {{{5.0 / 15, 4.0 / 15, 6.0 / 15},
                                        {4.0 / 15, 5.0 / 15, 6.0 / 15},
                                        {6.0 / 20, 6.0 / 20, 8.0 / 20}}});
    CHECK(result_of(state).b.output()(2, 0) == doctest::Approx(0.7));
    CHECK(result_of(state).difference.row == 2);
    CHECK(result_of(state).difference.column == 2);
    CHECK(
        kinds_sentence(state).starts_with("B (linear attention) differs most from A (softmax) at "
                                          "mat → mat: 40.0 % against 50.3 %; "));
    const std::vector<KindRow> rows = build_kinds_view(state).rows;
    const auto row = [&](std::string_view label) {
        return *std::ranges::find(rows, label, &KindRow::label);
    };
    CHECK(row("FLOPs of this head").a == "117");  // 2·9·(2 + 2) + 5·9
    CHECK(row("FLOPs of this head").b == "84");   // 2·(3·4 + 3·2·3) + 2·6 + 3·4
    CHECK(row("extra memory kept").a == "36 B");
    CHECK(row("extra memory kept").b == "24 B");  // S [2, 2] and z [2]
}

TEST_CASE("chunks give the same weights; latents and state space their own, freshly seeded") {
    AppState state = kinds_state({ChooseKinds{"chunked"}});
    check_weights(result_of(state).b, kScaled);
    CHECK(kinds_sentence(state).starts_with("A and B have equal weights") !=
          kinds_sentence(state).starts_with("The weights of A and B are equal up to rounding"));
    state = kinds_state({ChooseKinds{"latents"}});
    for (Index i = 0; i < 3; ++i) {
        double sum = 0.0;
        for (Index j = 0; j < 3; ++j) sum += result_of(state).b.weights()(i, j);
        CHECK(sum == doctest::Approx(1.0));
    }
    CHECK(has(build_kinds_view(state).note, "of seed 1, not trained"));
    state = kinds_state({ChooseKinds{"state-space"}});
    CHECK(result_of(state).b.weights()(0, 1) == 0.0);
    CHECK(result_of(state).b.weights()(1, 0) != 0.0);
}

TEST_CASE("rows that sum to more than 1 have no entropy") {
    const AppState state = kinds_state({ChooseKinds{"retention"}});
    const KindComputed& b = result_of(state).b;
    REQUIRE(b.fault.empty());
    CHECK(std::ranges::none_of(b.weights_of.values(), [](double weight) { return weight < 0.0; }));
    CHECK_FALSE(b.has_shares);
    CHECK(b.entropy.empty());
    CHECK(result_of(state).a.entropy.size() == 3);
    CHECK(!has(build_kinds_view(state).note, "retention"));  // γ is given, not drawn
}

TEST_CASE("low rank: its weights may be negative, its FLOPs and memory stand in the table") {
    const AppState state = kinds_state({ChooseKinds{"linformer"}});
    REQUIRE(result_of(state).b.fault.empty());
    const auto flops = one_of(build_kinds_view(state).rows, "FLOPs of this head", &KindRow::label);
    CHECK(flops.b == "126");  // 2·2·(3 + 3)·(2 + 2) + 5·2·3
    CHECK(one_of(build_kinds_view(state).rows, "extra memory kept", &KindRow::label).b == "56 B");
    CHECK(build_kinds_view(state).b.text == "low rank, 2 rows · no mask");
    CHECK(has(build_kinds_view(state).note, "of seed 1, not trained"));
    CHECK(has(kinds_sentence(after(state, {b_is("mask", "causal")})),
              "operation linformer does not support causal"));
}

TEST_CASE("Shift+M measures both sides: of these settings alone, in no session and no picture") {
    AppState state = kinds_state({ChooseKinds{"linformer"}});
    const auto timed = [](const AppState& of) {
        const auto rows = build_kinds_view(of).rows;
        return std::ranges::count(rows, "time, measured here", &KindRow::label);
    };
    CHECK_FALSE(requested_kinds_time(state));
    state = pressed(state, shift(Key::m));
    REQUIRE(requested_kinds_time(state));
    CHECK_FALSE(shown_workspace(state).is_idle(state));
    const std::string before = session_to_json(state);
    answer_all(state);
    CHECK_FALSE(requested_kinds_time(state));
    REQUIRE(kinds_look(state).times);
    CHECK(kinds_look(state).times->a_runs >= 5);
    CHECK(kinds_look(state).times->b_ms > 0.0);
    CHECK(timed(state) == 1);
    CHECK(session_to_json(state) == before);
    CHECK(timed(after(state, {SetCausal{true}})) == 0);
    shown_workspace(state).still(state);
    CHECK(timed(state) == 0);
    CHECK_FALSE(to_journal(KindsMeasured{}));
    CHECK(after(state, {b_is("mask", "causal"), MeasureKinds{}}).message.severity ==
          Severity::warning);
}

TEST_CASE("what an operation has no meaning for is refused in words, and left out if not set") {
    AppState state = kinds_state({ChooseKinds{"linear"}, b_is("score", "cosine")});
    CHECK(
        kinds_sentence(state) ==
        "B cannot be computed here: operation linear does not support score cosine: expected dot.");
    const KindsView view = build_kinds_view(state);
    CHECK_FALSE(view.difference);
    CHECK(has(view.b.fault, "score cosine"));
    CHECK(view.a.fault.empty());
    const auto settings = [](const AppState& of) {
        std::vector<std::string_view> keys;
        for (const KindChoice& choice : build_kinds_view(of).b.choices)
            keys.push_back(choice.setting);
        return keys;
    };
    using Keys = std::vector<std::string_view>;
    CHECK((settings(kinds_state()) == Keys{"operation", "score", "position", "mask"}));
    state = kinds_state({ChooseKinds{"linear"}});
    CHECK((settings(state) == Keys{"operation", "mask"}));
    CHECK_FALSE(build_kinds_view(state).b.shows_sink);
    state = after(state, {b_is("score", "cosine"), b_is("sink", "0")});
    CHECK((settings(state) == Keys{"operation", "score", "mask"}));
    CHECK(build_kinds_view(state).b.shows_sink);
}

TEST_CASE("every score and mask that is offered is computed, or says why it is not") {
    const AppState state = after(preset_state("cat-sat-mat"), {SetWorkspace{"kinds"}});
    for (const auto& [setting, names] : {std::pair("score", score_names()), {"mask", mask_names()}})
        for (const KindName& each : names) {
            if (each.key.empty()) continue;
            CAPTURE(each.key);
            const AppState chosen = after(state, {b_is(setting, std::string(each.key).c_str())});
            const std::string& fault = kinds_look(chosen).result->b.fault;
            CHECK((fault.empty() || has(fault, "need a causal mask")));
            CHECK(setting_text(kinds_controls(chosen).b, setting)
                      .starts_with(each.key == "document" ? "the document's mask" : each.name));
        }
}

TEST_CASE("an operation chosen by hand changes the settings that it refuses, and no others") {
    const AppState cosine = after(preset_state("cat-sat-mat"), {SetWorkspace{"kinds"}});
    REQUIRE(kinds_controls(cosine).b.score == Score::cosine);
    for (const KindName& each : operation_names()) {
        CAPTURE(each.key);
        const AppState state = after(cosine, {b_is("operation", std::string(each.key).c_str())});
        CHECK(result_of(state).b.fault.empty());
        const AttentionKind& kind = kinds_controls(state).b;
        CHECK(operation_names()[static_cast<std::size_t>(kind.operation)].key == each.key);
        const bool by_scores =
            kind.operation == Operation::softmax || kind.operation == Operation::chunked;
        if (by_scores) CHECK(kind.score == Score::cosine);
        CHECK(kinds_controls(state).a == kinds_controls(cosine).a);
        if (state.now > cosine.now)
            CHECK(kinds_controls(after(state, {Undo{}})).b == kinds_controls(cosine).b);
    }
    const AppState linear = after(cosine, {b_is("operation", "linear")});
    CHECK(linear.history[linear.now].text ==
          "B: linear attention; dot product; with scaling; τ = 1");
    const AppState retention =
        after(cosine, {b_is("sink", "1"), b_is("mask", "window"), b_is("operation", "retention")});
    CHECK(kinds_controls(retention).b.mask == KindMask::document);
    CHECK_FALSE(kinds_controls(retention).b.sink);
    CHECK(result_of(retention).b.fault.empty());
}

TEST_CASE(
    "weights that do not sum to 1 are numbers, not percentages; what cannot be compared says why") {
    const AppState state = kinds_state({ChooseKinds{"state-space"}});
    CHECK(kinds_sentence(state).find('%') == std::string::npos);
    CHECK(build_kinds_view(state).b.weights.sides.empty());
    CHECK(build_kinds_view(state).a.weights.sides.size() == 1);
    CHECK(kinds_missing_data(preset_state("empty")) ==
          "There is no sentence yet: type one in Step (1 S).");
    CHECK(kinds_missing_data(initial_state()).empty());
}

TEST_CASE("general and additive scores take seeded parameters, and the screen says so") {
    const auto w = [](Param param, Index row, Index column) {
        return seeded_parameter(1, param, row, column, 2);
    };
    const double x[3][2] = {{1, 0}, {0, 1}, {1, 1}};
    AppState state = kinds_state({b_is("score", "general")});
    for (const auto [i, j] : each_cell(3, 3)) {
        double score = 0.0;
        for (const auto [c, d] : each_cell(2, 2))
            score += x[i][c] * w(Param::w_score, c, d) * x[j][d];
        CHECK(result_of(state).b.stage(Stage::scores)(i, j) == doctest::Approx(score));
    }
    CHECK(has(build_kinds_view(state).note, "with seed 1: they are not trained"));
    state = after(state, {b_is("score", "additive")});
    for (const auto [i, j] : each_cell(3, 3)) {
        double score = 0.0;
        for (Index h = 0; h < 2; ++h) {
            double sum = 0.0;
            for (Index c = 0; c < 2; ++c)
                sum += x[i][c] * w(Param::w_score_q, c, h) + x[j][c] * w(Param::w_score_k, c, h);
            score += w(Param::w_score_row, 0, h) * std::tanh(sum);
        }
        CHECK(result_of(state).b.stage(Stage::scores)(i, j) == doctest::Approx(score));
    }
    const AppState other = after(state, {SetKindsSeed{2}});
    CHECK(result_of(other).b.weights()(0, 0) != result_of(state).b.weights()(0, 0));
    CHECK(build_kinds_view(kinds_state()).note.empty());
}

TEST_CASE("ALiBi takes the slope of the head shown, of eight heads where there is one") {
    AppState state =
        after(two_heads_state(), {ShowHead{1}, SetWorkspace{"kinds"}, b_is("position", "alibi")});
    CHECK(result_of(state).b.slope == std::exp2(-8.0));
    CHECK(result_of(state).b.slope_heads == 2);
    state = kinds_state({b_is("position", "alibi")});
    CHECK(result_of(state).b.slope == 0.5);
    CHECK(has(build_kinds_view(state).note, "head 0 of 8: 0.50"));
}

TEST_CASE("the sentence names the sides, the pair, its weights and the output") {
    CHECK(kinds_sentence(kinds_state({b_is("position", "rope-half")})) ==
          "B (RoPE, halves) differs most from A (no position) at cat → cat: 68.3 % against 40.1 %; "
          "the output changes by at most 0.2814.");
    CHECK(kinds_sentence(kinds_state({b_is("mask", "window")})) ==
          "B (window of 1) differs most from A (no mask) at cat → mat: 0.0 % against 40.1 %; the "
          "output changes by at most 0.2686.");
    CHECK(kinds_sentence(kinds_state()) ==
          "A and B have the same settings. Change a setting to compare.");
    CHECK(kinds_sentence(kinds_state({b_is("mask", "full")})) ==
          "A and B have equal weights, and the outputs are equal.");
    CHECK(kinds_sentence(
              kinds_state({SetCell{{Stage::x, 1, 0}, std::nan("")}, b_is("scaling", "off")})) ==
          "Every difference is NaN or infinite.");
}

TEST_CASE("what is no number is counted and left out of the largest difference") {
    const AppState state = kinds_state({SetCell{{Stage::x, 2, 0}, std::nan("")},
                                        b_is("mask", "causal"),
                                        {SetCausal{true}},
                                        b_is("scaling", "off")});
    const KindsResult& result = result_of(state);
    CHECK(result.difference.not_numbers == 3);
    CHECK(result.difference.compared == 6);
    CHECK(result.difference.row == 1);
    CHECK(std::isnan(result.error.largest));
    CHECK(has(kinds_sentence(state), "Left out: 3 pairs with a non-finite weight in A or B."));
}

TEST_CASE("settings are undone, and in session and journal; one that is none is named") {
    const AppState state = kinds_state();
    AppState other = after(state, {b_is("score", "cosine"), SwapKinds{}, SetKindsSeed{5}});
    CHECK(kinds_controls(other).a.score == Score::cosine);
    CHECK(kinds_controls(other).b.score == Score::dot);
    const AppState read = reopened(other);
    CHECK(kinds_controls(read) == kinds_controls(other));
    REQUIRE(kinds_look(read).result);
    CHECK(is_current(*kinds_look(read).result, read));
    CHECK(kinds_controls(acted(other, {Undo{}, Undo{}, Undo{}})) == kinds_controls(state));
    CHECK(is_current(result_of(other), other));
    CHECK(kinds_controls(after(other, {Redo{}})).b.score == Score::cosine);
    CHECK(from_journal(*to_journal(b_is("window", "3"))).has_value());
    const auto refused = [&](const char* setting, const char* value) {
        const AppState now = after(state, {b_is(setting, value)});
        CHECK(kinds_controls(now) == kinds_controls(state));
        return now.message.text;
    };
    CHECK(refused("colour", "red") == "A kind of attention has no setting 'colour'.");
    CHECK(refused("score", "euclid") ==
          "Score is 'euclid': expected " + kind_settings().front().wanted() + ".");
    CHECK(refused("temperature", "0") == "Temperature is '0': expected a number from 0.01 to 100.");
    CHECK(has(refused("temperature", "nan"), "expected a number"));
    CHECK(has(refused("window", "-1"), "expected a whole number"));
}

TEST_CASE("every setting is read back from what it writes") {
    AttentionKind kind;
    const std::pair<const char*, const char*> values[] = {
        {"score", "additive"},   {"scaling", "off"}, {"temperature", "0.5"}, {"position", "alibi"},
        {"softcap", "30"},       {"sink", "-1.5"},   {"mask", "window"},     {"window", "7"},
        {"operation", "linear"}, {"chunk", "8"},     {"latents", "2"},       {"state", "9"},
        {"rank", "3"},           {"keys", "5"}};
    CHECK(std::size(values) == kind_settings().size());
    for (const auto& [key, value] : values) {
        const auto changed = with_setting(kind, key, value);
        REQUIRE(changed);
        CHECK_FALSE(*changed == kind);
        kind = *changed;
    }
    for (const KindSetting& setting : kind_settings())
        CHECK(*with_setting(kind, setting.key, setting.read(kind)) == kind);
}

TEST_CASE("every pair of kinds can be computed on every sample, and says one true sentence") {
    for (const AppState& sample : sample_states()) {
        const AppState state = after(sample, {SetWorkspace{"kinds"}});
        for (const KindsPreset& preset : kinds_presets()) {
            const AppState now = after(state, {ChooseKinds{std::string(preset.key)}});
            const KindsView view = build_kinds_view(now);
            if (!view.missing_data.empty()) continue;
            INFO("preset.key ", preset.key, ", view.sentence ", view.sentence);
            CHECK_FALSE(view.sentence.empty());
            if (!kinds_look(now)
                     .result->whole()) {  // an operation that the document has no mask for
                const bool turns = kinds_controls(now).b.position != KindPosition::none;
                const bool narrow = now.document().size.d_k < 2;  // no pair of columns to turn
                CHECK((kinds_controls(now).b.operation != Operation::softmax || (turns && narrow)));
                continue;
            }
            CHECK(view.rows.size() >= 4);
            CHECK(view.a.weights.cells.size() == view.difference->cells.size());
            CHECK_FALSE(kinds_inspector(now).empty);
        }
    }
}

TEST_CASE("the pair that is looked at goes with the person from workspace to workspace") {
    AppState state =
        after(initial_state(),
              {GoToStage{Stage::scores}, SelectCell{{Stage::scores, 2, 1}}, SetWorkspace{"kinds"}});
    CHECK(kinds_look(state).selected == large::Cell{2, 1});
    state = after(state, {SelectKindsPair{3, 0}, SetWorkspace{"step"}});
    CHECK(state.selected == CellRef{Stage::scores, 3, 0});
    state = after(state, {SetWorkspace{"kinds"}, MovePair{-9, 1}});
    CHECK(kinds_look(state).selected == large::Cell{0, 1});
    CHECK(after(state, {SelectKindsPair{4, 0}}).message.severity == Severity::warning);
    CHECK(kinds_look(after(state, {SelectKindsPair{-1, 0}})).selected == large::Cell{0, 1});
}

TEST_CASE("the note says what of the document neither kind has") {
    const auto note = [](auto change) {
        return kinds_note(result_of(call_state("kinds", change)));
    };
    CHECK(note([](Inputs&, AttentionSpec& spec) { spec.dropout = 0.25; }) ==
          "Not applied: the document's dropout.");
    CHECK(note([](Inputs& inputs, AttentionSpec& spec) {
              spec.score = Score::cosine;
              spec.rope = Rope{};
              spec.softcap = 2.0;
              spec.alibi = true;
              inputs.params[Param::sinks] = Tensor(Shape{1, 1, 1, 2});
          }) == "Not applied: the document's score “Cosine”, RoPE, soft cap, ALiBi and sinks.");
    CHECK(note([](Inputs&, AttentionSpec& spec) { spec.mask.window_left = 1; }) == "");
}

TEST_CASE("both sides have the document's bias, as Step has it, and a step of its own") {
    Tensor bias(Shape{1, 1, 1, 1}, 0.75F);
    for (const bool cap_first : {false, true}) {
        const AppState state =
            after(call_state("kinds",
                             [&](Inputs& inputs, AttentionSpec& spec) {
                                 bias = attn::test::normal_tensor<float>(
                                     {1, 1, inputs.q.shape().t, inputs.k.shape().t}, 3);
                                 bias(0, 0, 1, 0) = kForbidding;
                                 spec.mask.bias = make_bias(bias);
                                 spec.bias_before_softcap = cap_first;
                             }),
                  {});
        const KindsResult result = result_of(state);
        CHECK(kinds_note(result) == "");
        const auto a = result.a.weights();
        const auto exact =
            must(attend_exact(cast<double>(*state.document().inputs), state.document().spec));
        for (Index i = 0; i < a.rows; ++i)
            for (Index j = 0; j < a.columns; ++j)
                CHECK(a(i, j) == doctest::Approx(exact[Stage::weights](0, 0, i, j)).epsilon(1e-6));
        CHECK(a(1, 0) == 0.0);
    }
}

TEST_CASE("where no query may attend there is no row to take a mean of, and it is said") {
    for (const bool kinds_differ : {false, true}) {
        const AppState state = kinds_state(
            kinds_differ ? Actions{SetPadding{0}, b_is("scaling", "off")} : Actions{SetPadding{0}});
        const KindsView view = build_kinds_view(state);
        CHECK(view.sentence == "The masks of A and B allow no pair: there is nothing to compare.");
        const KindRow& entropy =
            one_of(view.rows, std::string("entropy, mean of the rows"), &KindRow::label);
        CHECK(entropy.a == "undefined");
        CHECK(entropy.b == "undefined");
        CHECK(one_of(view.rows, std::string("weights, change of a row"), &KindRow::label).between ==
              "undefined");
    }
    // of one side alone
    const AppState full = kinds_state({SetPadding{0}, b_is("mask", "full")});
    CHECK(has(kinds_sentence(full), "B (no mask) differs most from A"));
    const KindsView view = build_kinds_view(full);
    const auto& row = one_of(view.rows, std::string("entropy, mean of the rows"), &KindRow::label);
    CHECK(row.a == "undefined");
    CHECK(has(row.b, " nats"));
}

TEST_CASE("a mask of the top k keys shows the exact weight that each row misses") {
    const AppState state =
        kinds_state({SetKind{KindsSide::b, "mask", "top-k"}, SetKind{KindsSide::b, "keys", "2"}});
    const KindComputed& side = result_of(state).b;
    const double third = kScaled[2][2] / (kScaled[2][0] + kScaled[2][2]);
    check_weights(side, {{{0.5, 0.0, 0.5}, {0.0, 0.5, 0.5}, {1.0 - third, 0.0, third}}});
    const double missed[] = {kScaled[0][1], kScaled[1][0], kScaled[2][1]};
    REQUIRE(side.set.rows.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(side.set.rows[i].missed == doctest::Approx(missed[i]).epsilon(1e-10));
        CHECK(side.set.rows[i].read == 2);
    }
    CHECK(result_of(state).a.set.rows.empty());
    const KindsView view = build_kinds_view(state);
    CHECK(view.a.weights.sides.size() == 1);
    REQUIRE(view.b.weights.sides.size() == 2);
    CHECK(view.b.weights.sides[1].cells == std::vector<std::string>{"19.8 %", "19.8 %", "24.8 %"});
    CHECK(view.b.weights.sides[1].bars[2] == doctest::Approx(missed[2]).epsilon(1e-10));
    const auto row =
        std::ranges::find(view.rows, "weight missed, mean of the rows", &KindRow::label);
    REQUIRE(row != view.rows.end());
    CHECK(row->a == "–");
    CHECK(row->b == "21.5 %");  // (0.1978 + 0.1978 + 0.2483) / 3
    // With 1 key the row keeps its largest weight, with 3 all of them.
    REQUIRE(view.missed);
    CHECK(view.missed_side == KindsSide::b);
    CHECK(view.missed_keys == 2);
    const CurveView &mean = view.missed->curves[0], &most = view.missed->curves[1];
    REQUIRE(mean.x == std::vector<double>{1.0, 2.0, 3.0});
    const double first[] = {1.0 - kScaled[0][0], 1.0 - kScaled[1][1], 1.0 - kScaled[2][2]};
    CHECK(mean.y[0] == doctest::Approx((first[0] + first[1] + first[2]) / 3.0).epsilon(1e-10));
    CHECK(most.y[0] == doctest::Approx(std::max({first[0], first[1], first[2]})).epsilon(1e-10));
    CHECK(mean.y[1] == doctest::Approx(side.set.missed).epsilon(1e-10));
    CHECK(most.y[2] == doctest::Approx(0.0));
    CHECK(view.missed->marker_x == 2.0);
    CHECK_FALSE(build_kinds_view(kinds_state()).missed);
    CHECK(view.b.text == "scaled dot product · top-k keys, k = 2");
    CHECK(setting_text(view.b.kind, "keys") == "top-k keys, k = 2");
}

TEST_CASE("NSA shows the exact weight outside its selected blocks and window, over k") {
    const AppState state = after(
        state_of(make_document("The cat sat because it was tired", 8, 4, 1, 7, {}).value()).value(),
        {SetWorkspace{"kinds"}, ChooseKinds{"nsa"}, b_is("keys", "4")});
    const KindsResult& result = result_of(state);
    REQUIRE(result.b.fault.empty());
    const auto exact = result.a.weights();
    CHECK(result.a.kind.mask == KindMask::causal);
    // k = 4: a window of 2 keys, 1 block of 2 keys, the own one.
    REQUIRE(result.b.set.rows.size() == 7);
    for (Index i = 0; i < 7; ++i) {
        double missed = 0.0;
        for (Index j = 0; j < i - 1; ++j)
            if (j / 2 != i / 2) missed += exact(i, j);
        CHECK(result.b.set.rows[static_cast<std::size_t>(i)].missed ==
              doctest::Approx(missed).epsilon(1e-10));
    }
    CHECK(result.b.set.missed > 0.1);
    const KindsView view = build_kinds_view(state);
    REQUIRE(view.missed);
    CHECK(view.missed_side == KindsSide::b);
    const std::vector<double>& mean = view.missed->curves[0].y;
    CHECK(mean.back() < mean.front());
    CHECK(view.b.weights.sides.back().cells.size() == 7);
    CHECK(has(view.b.text, "native sparse (NSA), k = 4, blocks of 2, window 1"));
    double row = 0.0;
    for (Index j = 0; j < 7; ++j) row += result.b.weights()(6, j);
    CHECK(row == doctest::Approx(1.0));  // three branches, a third each
    CHECK_FALSE(has(view.note, "random parameters"));
}

TEST_CASE("each rule of keys reads at most k keys, and one that needs a causal mask says so") {
    AppState state = kinds_state({SetKind{KindsSide::b, "mask", "heavy-hitters"}});
    CHECK(kinds_sentence(state).find("heavy hitters need a causal mask") != std::string::npos);
    state = after(state, {SetCausal{true}});
    for (const char* rule : {"top-k", "sink-window", "heavy-hitters", "pooled-blocks", "nsa"})
        for (const Index keys : {1, 2, 3}) {
            CAPTURE(rule);
            CAPTURE(keys);
            const AppState shown =
                after(state, {SetKind{KindsSide::b, "mask", rule},
                              SetKind{KindsSide::b, "keys", std::to_string(keys)}});
            const KindComputed& side = result_of(shown).b;
            const bool blocks =
                std::string_view(rule) == "pooled-blocks" || std::string_view(rule) == "nsa";
            const Index most = blocks ? std::max<Index>(keys, 3) : keys;
            for (Index i = 0; i < 3; ++i) {
                double sum = 0.0;
                for (Index j = 0; j < 3; ++j) {
                    if (j > i) CHECK(side.weights()(i, j) == 0.0);
                    sum += side.weights()(i, j);
                }
                CHECK(sum == doctest::Approx(1.0));
                CHECK(side.allowed_of_row[i] <= most);
                CHECK(side.allowed_of_row[i] >= 1);
            }
            if (keys == 3 && !blocks) CHECK(side.set.missed == 0.0);
        }
}
