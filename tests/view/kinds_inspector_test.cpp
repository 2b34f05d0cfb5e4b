#include "app/workspaces/kinds/explain.h"
#include "app/workspaces/kinds/state.h"
#include "app/workspaces/kinds/view.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// A is plain scaled dot product, B has one setting more; the pair mat → cat of cat sat mat.
AppState explained(const Actions& actions) {
    return after(
        after(preset_state("cat-sat-mat"), {SetWorkspace{"kinds"}, ChooseKinds{"rope"},
                                            CopyKind{KindsSide::a}, SelectKindsPair{2, 0}}),
        actions);
}
bool contains(const AppState& state, const std::string& description) {
    const std::string text = kinds_inspector(state).as_text;
    CAPTURE(text);
    CHECK(has(text, description));
    return has(text, description);
}

}  // namespace

TEST_CASE("both sides' arithmetic stands beside each other, from q and k to the share") {
    const AppState state = explained({b_is("scaling", "off")});
    const InspectorView view = kinds_inspector(state);
    CHECK(view.title == "mat → cat");
    CHECK(view.value == "A 24.8 %  B 21.2 %");
    CHECK(contains(state, "A: scaled dot product"));
    CHECK(contains(state, "q·k: 1.00·1.00 + 1.00·0.00 = 1.00"));
    CHECK(contains(state, "S: 1.00 ÷ √2 = 0.7071"));
    CHECK(contains(state, "exp(M − m): exp(0.7071 − 1.4142) = 0.4931"));
    CHECK(contains(state, "a: 0.4931 ÷ 1.9861 = 0.2483"));
    CHECK(contains(state, "B: dot product"));
    CHECK(contains(state, "a: 0.3679 ÷ 1.7358 = 0.2119"));
    REQUIRE(view.table);
    CHECK(view.table->rows.size() == 3);
    CHECK(view.table->rows[0].chosen);
    CHECK(view.table->rows[2].cells[1].text == "0.5035");
    CHECK(view.table->rows[2].cells[3].text == "0.5761");
}

TEST_CASE("cosine, RoPE, ALiBi, soft cap and sink write their own numbers") {
    AppState state = explained({b_is("score", "cosine")});
    CHECK(contains(state, "‖q‖: √(1.00·1.00 + 1.00·1.00) = 1.4142"));
    CHECK(contains(state, "‖k‖: √(1.00·1.00 + 0.00·0.00) = 1.00"));
    CHECK(contains(state, "= 0.7071"));
    state = explained({b_is("position", "rope-half")});
    CHECK(
        contains(state, "q0, q1 rotate by 2 · 1.00 = 2.00 rad: (1.00, 1.00) → (−1.3254, 0.4932)."));
    CHECK(contains(state, "k0, k1 rotate by 0 · 1.00 = 0.00 rad: (1.00, 0.00) → (1.00, 0.00)."));
    CHECK(contains(state, "q′·k′: −1.3254·1.00 + 0.4932·0.00 = −1.3254"));
    CHECK(contains(explained({b_is("position", "alibi")}), "B: 0.7071 − 0.50·2 = −0.2929"));
    CHECK(contains(explained({b_is("softcap", "1")}), "cap: 1.00 · tanh(0.7071 ÷ 1.00) = 0.6089"));
    CHECK(contains(explained({b_is("sink", "0")}),
                   "and exp(0.00 − m) = 0.2431 of the sink = 2.2293"));
    CHECK(contains(explained({b_is("temperature", "0.5")}), "S: 1.00 ÷ √2 ÷ 0.5"));
}

TEST_CASE("operations in the place of softmax write what their weight is made from") {
    AppState state = explained({ChooseKinds{"linear"}});
    CHECK(contains(state, "φ(x) = elu(x) + 1: φ(q) = (2.00, 2.00), φ(k) = (2.00, 1.00)."));
    CHECK(contains(state, "φ(q)·φ(k): 2.00·2.00 + 2.00·1.00 = 6.00"));
    CHECK(contains(state, "a: 6.00 ÷ 20.00 = 0.30"));
    const std::vector<KindRow> rows = build_kinds_view(state).rows;
    REQUIRE(rows.size() == 8);
    CHECK(has(rows[6].tooltip, "A: 72 in products + 45 = 117. B: "));
    CHECK(rows[7].tooltip ==
          "A: 4 B × 9 (one weight per pair) = 36 B. B: 4 B × 6 (S and z of each head) = 24 B.");
    CHECK(kinds_inspector(state).table->rows[0].cells[2].text.empty());
    for (const char* pair : {"linear", "latents", "state-space", "linformer", "retention",
                             "gated-delta", "gated", "differential", "nsa"}) {
        state = explained({ChooseKinds{pair}});
        const KindsResult& result = *kinds_look(state).result;
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j <= i; ++j) {
                const Explanation arithmetic = explain_kind(result.b, result, i, j);
                REQUIRE_FALSE(arithmetic.steps.empty());
                CHECK(arithmetic.steps.back().result == result.b.weights()(i, j));
            }
    }
    for (const char* keys : {"1", "2", "6"}) {
        state = explained({ChooseKinds{"nsa"}, b_is("keys", keys), b_is("window", "0")});
        const KindsResult& result = *kinds_look(state).result;
        for (Index i = 0; i < 3; ++i)
            for (Index j = 0; j <= i; ++j)
                CHECK(evaluate(explain_kind(result.b, result, i, j).steps.back().expr) ==
                      doctest::Approx(result.b.weights()(i, j)).epsilon(1e-12));
    }
    CHECK(contains(state, "S_c: (0.7071 + 0.7071) ÷ 2 = 0.7071"));
    CHECK(contains(explained({ChooseKinds{"nsa"}, SelectKindsPair{2, 2}}),
                   "The query may not attend to all 2 keys of block 1"));
    CHECK(contains(
        explained({ChooseKinds{"state-space"}, b_is("mask", "full"), SelectKindsPair{0, 2}}),
        "a recurrence only looks back"));
}

TEST_CASE("masked pairs, empty rows and NaN say why there is no softmax") {
    AppState state = explained({b_is("mask", "causal"), SelectKindsPair{0, 2}});
    CHECK(contains(state, "The mask forbids the pair: its weight is exactly 0."));
    CHECK(kinds_inspector(state).value == "A 40.1 %  B 0.0 %");
    CHECK(kinds_inspector(state).table->rows[2].cells[2].text == "masked");
    state = explained({SetCell{{Stage::x, 2, 0}, std::nan("")}});
    CHECK(contains(state, "A score of the row is NaN or ∞, so its weights are NaN."));
}

TEST_CASE("the weight that the arithmetic ends with is the weight of the matrix, in every kind") {
    const std::pair<const char*, const char*> settings[] = {{"score", "cosine"},
                                                            {"score", "general"},
                                                            {"score", "additive"},
                                                            {"score", "relative"},
                                                            {"temperature", "0.3"},
                                                            {"position", "rope-half"},
                                                            {"position", "rope-interleaved"},
                                                            {"position", "alibi"},
                                                            {"softcap", "0.7"},
                                                            {"sink", "1.5"},
                                                            {"mask", "causal-window"}};
    for (const auto& [setting, value] : settings) {
        const AppState state =
            after(two_heads_state(), {SetWorkspace{"kinds"}, ShowHead{1}, b_is(setting, value)});
        const KindsResult& result = *kinds_look(state).result;
        REQUIRE(result.whole());
        INFO("setting ", setting, ", value ", value);
        for (Index i = 0; i < result.call.q.shape().t; ++i)
            for (Index j = 0; j <= i; ++j) {
                const Explanation arithmetic = explain_kind(result.b, result, i, j);
                if (!result.b.may(i, j)) continue;
                REQUIRE(arithmetic.steps.size() >= 5);
                const auto from_last = [&](std::size_t n) {
                    return arithmetic.steps[arithmetic.steps.size() - n].result;
                };
                CHECK(from_last(1) == result.b.weights()(i, j));
                CHECK(from_last(3) / from_last(2) == doctest::Approx(from_last(1)));
            }
    }
}
