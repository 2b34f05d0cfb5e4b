#include "app/common/document/document.h"
#include "app/common/explain/explain.h"
#include "app/workspaces/step/heads.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

/// X[i, c] or a weight by its head, row and column within the head.
float entry(const Document& document, Param param, Index h, Index r, Index c) {
    const Tensor& w = document.inputs->params[param];
    return param == Param::w_o ? w(0, 0, h * document.d_k + r, c)
                               : w(0, 0, r, h * document.d_k + c);
}

/// Entries of W that both documents have and that are not the same number.
Index differing_weights(const Document& a, const Document& b) {
    Index count = 0;
    const Index d_model = std::min(a.d_model, b.d_model);
    const Index d_k = std::min(a.d_k, b.d_k);
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v, Param::w_o}) {
        if (a.inputs->params[param].empty() || b.inputs->params[param].empty()) continue;
        const bool joins = param == Param::w_o;
        for (const auto [h, r] : each_cell(std::min(a.heads, b.heads), (joins ? d_k : d_model)))
            for (Index c = 0; c < (joins ? d_model : d_k); ++c)
                count += entry(a, param, h, r, c) != entry(b, param, h, r, c);
    }
    return count;
}

Index differing_vectors(const Document& a, const Document& b) {
    Index count = 0;
    for (const auto [i, c] : each_cell(std::min(std::ssize(a.tokens), std::ssize(b.tokens)),
                                       std::min(a.d_model, b.d_model)))
        count += a.inputs->x(0, 0, i, c) != b.inputs->x(0, 0, i, c);
    return count;
}

Index pick(std::uint64_t seed, std::uint64_t salt, Index most) {
    return 1 + static_cast<Index>(mix(seed, salt) % static_cast<std::uint64_t>(most));
}

}  // namespace

TEST_CASE("no entry of a toy depends on how many there are") {
    for (std::uint64_t n = 0; n < 12; ++n) {
        const auto sized = [&](std::uint64_t salt) {
            return make_document("a b c a", pick(n, salt, 40), pick(n, salt + 1, 40),
                                 pick(n, salt + 2, kMaxHeads), 5, {})
                .value();
        };
        const Document one = sized(10);
        const Document other = sized(20);
        CAPTURE(n);
        CHECK(differing_weights(one, other) == 0);
        CHECK(differing_vectors(one, other) == 0);
    }
}

TEST_CASE("another size keeps every number that was there, also hand-set and edited ones") {
    for (const char* preset : {"the-cat-sat-down", "three-heads", "cross-attention", "eight-heads"})
        for (std::uint64_t n = 0; n < 6; ++n) {
            INFO("preset ", preset, ", n ", n);
            const AppState first = after(preset_state(preset), {SetCell{{Param::w_k, 0, 1}, 7.25},
                                                                SetCell{{Stage::x, 0, 0}, -3.5}});
            const Actions changes{SetKeyWidth{pick(n, 1, 20)}, SetHeads{pick(n, 2, 6)},
                                  SetModelWidth{pick(n, 3, 30)}};
            const AppState other = after(first, {changes[n % 3]});
            CHECK(differing_weights(first.document(), other.document()) == 0);
            CHECK(differing_vectors(first.document(), other.document()) == 0);
            CHECK(other.document().inputs->params[Param::w_o].empty() ==
                  first.document().inputs->params[Param::w_o].empty());
        }
}

TEST_CASE("an added head changes no number of others") {
    const AppState first = preset_state("eight-heads");
    const AppState more = after(first, {SetHeads{12}});
    for (const auto [h, i] : each_cell(8, 9))
        for (Index j = 0; j < 9; ++j)
            CHECK((*first.trace)[Stage::weights](0, h, i, j) ==
                  doctest::Approx((*more.trace)[Stage::weights](0, h, i, j)).epsilon(1e-5));
}

TEST_CASE("what a preset's note says of its weights is gone when they are edited") {
    const auto badge = [](const CellRef& cell) {
        const AppState state = after(initial_state(), {SetCell{cell, 3.25}});
        return build_step_view(state).controls.badge;
    };
    CHECK(badge({Param::w_v, 0, 0}) ==
          "toy weights, hand-set: sat looks at cat, down looks at sat, edited");
    CHECK(badge({Param::w_q, 0, 0}) ==
          "toy weights, hand-set: X given, W from “The cat sat down”, edited");
    CHECK_FALSE(has(badge({Stage::x, 0, 0}), "looks at"));
}

TEST_CASE("the limits of a toy compute") {
    const auto document =
        make_document(numbered("w", kMaxTokens), kMaxModelWidth, kMaxKeyWidth, kMaxHeads, 1, {});
    REQUIRE(document);
    const AppState state = state_of(*document).value();
    const Tensor& a = (*state.trace)[Stage::weights];
    double largest = 0.0;  // mean of the rows' largest weights: softmax is not saturated
    for (const auto [h, i] : each_cell(kMaxHeads, kMaxTokens))
        largest += *std::ranges::max_element(a.matrix(0, h).row(i)) / (64.0 * 16.0);
    CHECK(largest > 1.0 / 64);
    CHECK(largest < 0.8);
    CHECK(kMaxModelWidth == 128);
    CHECK(kMaxKeyWidth == 128);
    CHECK(kMaxHeads == 16);
}

TEST_CASE("a longer sentence keeps vectors and weights; hand-set weights given up are named") {
    for (const char* preset : {"the-cat-sat-down", "eight-heads", "river-bank"}) {
        const AppState first = preset_state(preset);
        const AppState more = after(first, {SetSentence{first.document().sentence + " and more"}});
        CHECK(std::ssize(more.document().tokens) == std::ssize(first.document().tokens) + 2);
        CHECK(differing_vectors(first.document(), more.document()) == 0);
        CHECK(more.document().inputs->params.tensors == first.document().inputs->params.tensors);
    }
    const AppState bank = after(preset_state("river-bank"), {SetSentence{"the bank"}});
    CHECK(bank.document().inputs->x(0, 0, 1, 2) == 1.0F);  // a given vector goes with its word
    const AppState typed = after(initial_state(), {SetSentence{"A dog ran off"}});
    CHECK(has(typed.message.text, "new weights: the hand-set ones belong to “The cat sat down”"));
    CHECK(has(typed.document().note, "W from seed 1"));
    const AppState seeded = after(initial_state(), {SetSeed{4}});
    CHECK(has(seeded.message.text, "new weights: the hand-set ones belong to “The cat sat down”"));
    const AppState wider = after(initial_state(), {SetKeyWidth{6}});
    CHECK(has(wider.message.text,
              "the hand-set weights of “The cat sat down” may no longer show their pattern"));
    CHECK(has(build_step_view(wider).controls.badge,
              "W from “The cat sat down”, further entries from seed 1"));
    CHECK_FALSE(has(after(typed, {SetSeed{9}}).message.text, "given up"));
    CHECK(reopened(wider).document().hand_set == "The cat sat down");
}

TEST_CASE("the heads of To be or not to be do what their names say") {
    const AppState state = preset_state("three-heads");
    const std::vector<std::string> names{"previous token", "first token", "same word"};
    CHECK(build_step_view(state).controls.heads_text ==
          "0: previous token, 1: first token, 2: same word");
    const Tensor& a = (*state.trace)[Stage::weights];
    const double fits = std::exp(12.0 / std::sqrt(6.0));  // 12 / √d_k against 0
    for (Index i = 0; i < 6; ++i) {
        CHECK(a(0, 0, i, std::max<Index>(i - 1, 0)) == doctest::Approx(fits / (fits + 5)));
        CHECK(a(0, 1, i, 0) == doctest::Approx(fits / (fits + 5)));
        double same = 0.0;
        for (Index j = 0; j < 6; ++j)
            if (state.document().tokens[i] == state.document().tokens[j]) same += a(0, 2, i, j);
        CHECK(same > 0.96);
        CHECK(a(0, 0, i, std::max<Index>(i - 1, 0)) > 0.96F);
    }
    CHECK(a(0, 2, 0, 4) == doctest::Approx(fits / (2 * fits + 4)));  // to … to
    for (Index h = 0; h < 3; ++h) CHECK(build_heads_view(state).heads[h].name == names[h]);
    for (Index h = 0; h < 3; ++h)
        CHECK(has(build_step_view(after(state, {ShowHead{h}, GoToStage{Stage::weights}})).title,
                  names[h]));
}

TEST_CASE("a note that speaks of weights is not said under another scaling, temperature or mask") {
    const AppState state = initial_state();
    const auto badge = [](const AppState& of) { return build_step_view(of).controls.badge; };
    REQUIRE(has(badge(state), "sat looks at cat"));
    for (const Action& action :
         Actions{SetTemperature{9.0}, SetScaling{false}, SetCausal{true}, SetWindow{0}}) {
        const AppState changed = after(state, {action});
        CHECK_FALSE(has(badge(changed), "looks"));
        CHECK(badge(changed).starts_with("toy weights, hand-set: "));
        CHECK(has(badge(changed), "X given, W from “The cat sat down”"));
        CHECK(has(badge(after(changed, {Undo{}})), "sat looks at cat"));
        CHECK(badge(reopened(changed)) == badge(changed));
    }
    CHECK(has(badge(after(state, {SetTemperature{9.0}, SetTemperature{1.0}})), "sat looks at cat"));
    const AppState typed = after(state, {SetSentence{"one two"}, SetTemperature{9.0}});
    CHECK(has(badge(typed), "X from the words"));
    const AppState edited = after(state, {SetCell{{Param::w_v, 0, 0}, 5.0}, SetTemperature{9.0}});
    CHECK(badge(edited).ends_with(", edited"));
    // what heads were built to do holds for the masks that they were built for
    const AppState heads = after(preset_state("three-heads"), {GoToStage{Stage::weights}});
    REQUIRE(has(build_step_view(heads).title, "previous token"));
    const AppState masked = after(heads, {SetWindow{0}});
    CHECK_FALSE(has(build_step_view(masked).title, "previous token"));
    CHECK(build_step_view(masked).controls.heads_text.empty());
    CHECK(build_heads_view(masked).heads[0].name.empty());
    // a preset that is not scaled, as its file says
    CHECK(has(badge(preset_state("exercise")), "A = [.5 .5]"));
    CHECK_FALSE(has(badge(after(preset_state("exercise"), {SetScaling{true}})), "A = [.5 .5]"));
}

TEST_CASE("a head that was changed is not called by what it was built for") {
    const AppState state = preset_state("three-heads");
    using Names = std::vector<std::string>;
    const auto names = [&](const Actions& actions) {
        return after(state, actions).document().head_names;
    };
    CHECK(names({ShowHead{1}, SetCell{{Param::w_q, 0, 0}, 0.0}}) ==
          Names{"previous token", "edited", "same word"});
    CHECK(names({SetCell{{Param::w_v, 6, 0}, 2.0}}).size() == 3);
    CHECK(names({SetHeads{4}}).back() == "seeded");
    CHECK(names({SetHeads{2}}) == Names{"previous token", "first token"});
    CHECK(names({SetCell{{Stage::x, 0, 0}, 2.0}}).empty());
    CHECK(names({SetKeyWidth{7}}).empty());
    CHECK(names({SetSeed{8}}).empty());
    CHECK(names({SetSentence{"to be"}}).empty());
    CHECK(reopened(state).document().head_names == state.document().head_names);
}

TEST_CASE("two sentences are a batch, the shorter one padded, each with its own words") {
    const AppState one = after(initial_state(), {SetSeed{4}, SetSentence{"the cat sat down"}});
    const AppState state = after(one, {SetSentence{"the cat sat down || a dog"}});
    const Document& document = state.document();
    CHECK(document.inputs->x.shape() == Shape{2, 1, 4, 4});
    CHECK(document.spec.mask.padding == std::vector<Index>{4, 2});
    for (const auto stage : {Stage::scores, Stage::weights, Stage::output})
        for (Index i = 0; i < 4; ++i)  // the first sentence is what it was alone
            for (Index j = 0; j < 4; ++j)
                CHECK((*state.trace)[stage](0, 0, i, j) == (*one.trace)[stage](0, 0, i, j));
    const AppState dog = after(one, {SetSentence{"a dog"}});
    const AppState next = after(state, {ShowHead{0, 1}, GoToStage{Stage::weights}});
    for (const auto [i, j] : each_cell(4, 4)) {
        const float a = (*state.trace)[Stage::weights](1, 0, i, j);
        if (j >= 2) CHECK(a == 0.0F);
        if (i < 2 && j < 2) CHECK(a == (*dog.trace)[Stage::weights](0, 0, i, j));
    }
    using Words = std::vector<std::string>;
    const auto shown = [](const AppState& of) { return build_step_view(of).result.row_labels; };
    CHECK(shown(after(state, {GoToStage{Stage::weights}})) == Words{"the", "cat", "sat", "down"});
    CHECK(shown(next) == Words{"a", "dog", "[pad]", "[pad]₂"});
    CHECK(build_sentence_view(next).queries.chips[1].text == "dog");
    CHECK(has(explain(next, {Stage::x, 1, 0}).formula, "word vector of “dog” + position 1"));
    CHECK(build_step_view(next).controls.batches == 2);
    CHECK(reopened(next).document().inputs->x == document.inputs->x);
    CHECK(reopened(after(next, {SetPadding{std::nullopt}})).document().spec.mask.padding.empty());
    const AppState edited = after(next, {SetCell{{Stage::x, 1, 0}, 7.0}});
    CHECK(edited.document().inputs->x(1, 0, 1, 0) == 7.0F);
    CHECK(edited.document().inputs->x(0, 0, 1, 0) == document.inputs->x(0, 0, 1, 0));
    CHECK(after(edited, {SetSentence{"one || a dog"}}).document().inputs->x(1, 0, 1, 0) == 7.0F);
    CHECK(after(edited, {SetKeyWidth{6}, SetModelWidth{5}}).document().inputs->x(1, 0, 1, 0) ==
          7.0F);
    CHECK(after(edited, {SetSentence{"a dog"}}).document().size.batch == 1);
    for (const auto& [typed, text] :
         {std::pair("a || b || c", "A batch has at most two sentences: use || once between them."),
          std::pair("a ||", "|| separates two sentences, but there is no sentence after it."),
          std::pair("|| a", "|| separates two sentences, but there is no sentence before it.")})
        CHECK(after(one, {SetSentence{typed}}).message.text == text);
    CHECK(after(preset_state("cross-attention"), {SetSentence{"a || b"}}).message.text ==
          "A sentence with cross-attention to another one cannot be a batch: leave out ||.");
}
