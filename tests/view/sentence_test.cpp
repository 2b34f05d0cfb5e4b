// The sentence above the canvas: chips, and what a query looks at in words.

#include <fmt/format.h>

#include "app/common/document/document.h"
#include "app/common/document/heads.h"
#include "app/common/document/place.h"
#include "app/workspaces/step/attention_text.h"
#include "app/workspaces/step/grids.h"
#include "core/stages.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

AppState text_of_length(int count) {
    return after(initial_state(), {SetSentence{numbered("w", count)}});
}

/// At the weights, with row 0 of them as given.
AppState weighing(AppState state, std::vector<float> row) {
    view::apply(state, GoToStage{Stage::weights});
    Trace trace = *state.trace;
    std::ranges::copy(row, trace[Stage::weights].matrix(0, state.head).row(0).begin());
    state.trace = std::make_shared<const Trace>(std::move(trace));
    return state;
}
std::string reported(std::vector<float> row) {
    const int count = static_cast<int>(row.size());
    return attention_text(weighing(text_of_length(count), std::move(row)), 0);
}

}  // namespace

TEST_CASE("large weights are told one by one, equal ones together, the rest counted") {
    std::vector<float> row(20, 0.02F);  // 17 of them: 34 %
    row[0] = 0.5F;
    row[7] = 0.1F;
    row[9] = 0.06F;
    CHECK(reported(row) == "w0 looks at w0 50 %, w7 10 %, w9 6 %, and 17 others 34 %.");
    CHECK(reported({0.56F, 0.1F, 0.04F, 0.3F}) == "w0 looks at w0 56 %, w3 30 %, w1 10 %, w2 4 %.");
    CHECK(reported({0.92F, 0.04F, 0.03F, 0.01F}) == "w0 looks at w0 92 %, and 3 others 8 %.");
    CHECK(reported({1.0F, 0.0F, 0.0F, 0.0F}) == "w0 looks at w0 100 %, and 3 others 0 %.");
    CHECK(reported({0.4F, 0.1F, 0.4F, 0.1F}) ==
          "w0 looks at w0 and w2 40 % each, and 2 others 20 %.");
    CHECK(reported({0.25F, 0.25F, 0.25F, 0.25F}) ==
          "w0 attends equally to all 4 tokens, 25 % each.");
    CHECK(reported({0.2F, 0.2F, 0.2F, 0.2F, 0.2F - 0.1F, 0.1F}) ==
          "w0 spreads its weight over 6 tokens: 10 % to 20 % each.");
    const float third = 1.0F / 3.0F;
    CHECK(reported({third, third, third}) ==
          "w0 attends equally to all 3 tokens, 33 % each (rounded).");
    CHECK(reported({0.504F, 0.254F, 0.242F}) == "w0 looks at w0 50 %, w1 25 %, w2 24 % (rounded).");
    CHECK(reported({0.998F, 0.001F, 0.001F}) ==
          "w0 looks at w0 over 99 %, and 2 others under 1 %.");
}

TEST_CASE("the headline is the sentence without head and rest, each part in its colour") {
    const auto headline = [](std::vector<float> row) {
        const int count = static_cast<int>(row.size());
        std::string text;
        for (const HeadlinePart& part : attention_headline(
                 weighing(after(text_of_length(count), {SetHeads{2}}), std::move(row)), 0))
            text += part.role ? fmt::format("<{}>", part.text) : part.text;
        return text;
    };
    CHECK(headline({0.56F, 0.1F, 0.04F, 0.3F}) ==
          "<w0> looks at <w0>< 56 %>, <w3>< 30 %>, <w1>< 10 %>, <w2>< 4 %>");
    CHECK(headline({0.4F, 0.1F, 0.4F, 0.1F}) == "<w0> looks at <w0 and w2>< 40 %> each");
    CHECK(headline({0.25F, 0.25F, 0.25F, 0.25F}) ==
          "w0 attends equally to all 4 tokens, 25 % each");
    CHECK(headline({0.5F, kNan, 0.5F}) == "w0 has NaN in 1 of 3 weights");
    CHECK(headline({0.0F, 0.0F}) == "w0 looks at no token: its weights are 0");
    CHECK(build_step_view(weighing(text_of_length(2), {0.5F, 0.5F})).headline_tip ==
          "w0 attends equally to both tokens, 50 % each.");
    CHECK(build_step_view(text_of_length(3)).headline.empty());  // at X
}

TEST_CASE("a flat row is spread evenly, and no key of it is named") {
    CHECK(reported({0.21F, 0.19F, 0.22F, 0.18F, 0.2F}) ==
          "w0 spreads its weight over 5 tokens: 18 % to 22 % each.");
    CHECK(reported({0.201F, 0.2F, 0.2F, 0.2F, 0.199F}) ==
          "w0 spreads its weight over 5 tokens: about 20 % each.");
    CHECK(reported({0.4F, 0.15F, 0.15F, 0.15F, 0.15F}).starts_with("w0 looks at w0 40 %"));
    CHECK(reported({0.26F, 0.25F, 0.25F, 0.24F}).starts_with("w0 looks at w0 26 %"));  // few
}

TEST_CASE("NaN, empty rows and a single key are said, not counted as shares") {
    CHECK(reported({kNan, kNan, kNan}) == "w0 has only NaN weights.");
    CHECK(reported({0.5F, kNan, 0.5F}) == "w0 has NaN in 1 of 3 weights.");
    const AppState causal = after(text_of_length(3), {SetCausal{true}, GoToStage{Stage::weights}});
    CHECK(attention_text(causal, 0) == "w0 can see only w0: 100 %; 2 masked.");
    CHECK(attention_text(causal, 1).ends_with("; 1 masked."));
    CHECK_FALSE(has(attention_text(causal, 2), "masked"));
    const AppState even = weighing(causal, {1.0F, 0.0F, 0.0F});
    CHECK(attention_text(even, 0) == "w0 can see only w0: 100 %; 2 masked.");
    for (const bool nan : {false, true}) {
        const std::string rows = nan ? "nan" : "zero";
        const AppState state =
            after(json_state(R"("padding": 0, "empty_rows": ")" + rows + '"', "a b"),
                  {GoToStage{Stage::weights}});
        CHECK(attention_text(state, 1) == (nan ? "b can see no token, and its weights are NaN."
                                               : "b can see no token: its weights are 0."));
    }
}

TEST_CASE("weights after dropout are called so, with their sum; of several heads one is named") {
    AppState state = json_state(R"("dropout": 0.5, "dropout_seed": 3)");
    CHECK(attention_text(acted(state, {GoToStage{Stage::weights}}), 0).starts_with("a looks at"));
    view::apply(state, GoToStage{Stage::dropped});
    Trace trace = *state.trace;
    std::ranges::copy(std::vector{1.0F, 0.0F, 0.5F, 0.0F},
                      trace[Stage::dropped].matrix(0, 0).row(0).begin());
    std::ranges::fill(trace[Stage::dropped].matrix(0, 0).row(1), 0.0F);
    state.trace = std::make_shared<const Trace>(trace);
    CHECK(attention_text(state, 0) ==
          "After dropout: a looks at a 100 %, c 50 %, and 2 others 0 %; the sum is 150 %.");
    CHECK(attention_text(state, 1) == "After dropout: b looks at no token: its weights are 0.");
    view::apply(state, GoToStage{Stage::context});
    CHECK(attention_text(state, 1) == "After dropout: b looks at no token: its weights are 0.");
    state = after(text_of_length(3), {SetHeads{2}, ShowHead{1}, GoToStage{Stage::weights}});
    CHECK(attention_text(state, 2).starts_with("Head 1: w2 looks at "));
}

TEST_CASE("NaN is told exactly where a row of weights has one, in every model") {
    for (AppState state : sample_states())
        for (const Stage stage : ribbon_stages(state.document())) {
            if (stage < Stage::weights) continue;
            view::apply(state, GoToStage{stage});
            const auto weights = sheet_of(state, described_weights(state)).values;
            for (Index i = 0; i < weights.rows; ++i) {
                const std::string text = attention_text(state, i);
                const bool any =
                    std::ranges::any_of(weights.row(i), [](float a) { return std::isnan(a); });
                INFO(text);
                CHECK(any == (has(text, "NaN")));
                CHECK(text.ends_with('.'));
            }
        }
}

TEST_CASE("weights are shown from softmax on, masked words from the mask on") {
    AppState state = after(text_of_length(4), {SetCausal{true}, SelectCell{{Stage::q, 1, 0}}});
    for (const Stage stage : ribbon_stages(state.document())) {
        view::apply(state, GoToStage{stage});
        const SentenceView view = build_sentence_view(state);
        REQUIRE(view.queries.chips.size() == 4);
        CHECK(view.weighed == (stage >= Stage::weights));
        for (const WordChip& chip : view.queries.chips)
            CHECK((chip.look == ChipLook::weighed) <= view.weighed);
    }
    acted(state, {GoToStage{Stage::masked}, SelectCell{{Stage::masked, 1, 0}}});
    const SentenceView masked = build_sentence_view(state);
    CHECK(masked.queries.chips[1].is_query);
    CHECK(masked.queries.chips[0].is_key);
    CHECK(masked.queries.chips[2].look == ChipLook::masked);
    CHECK(masked.queries.chips[1].look == ChipLook::plain);
    CHECK(masked.text == "Query w1, key w0.");
    view::apply(state, GoToStage{Stage::scores});
    CHECK(build_sentence_view(state).queries.chips[2].look == ChipLook::plain);
}

TEST_CASE("a chip has the colour of its cell in the matrix, by row too") {
    for (const Action& colored : Actions{SetCausal{true}, ScaleRows{true}}) {
        CAPTURE(colored.type().name);
        const AppState state = after(text_of_length(5), {colored, GoToStage{Stage::weights},
                                                         SelectCell{{Stage::weights, 2, 0}}});
        const SentenceView view = build_sentence_view(state);
        const GridView grid = stage_grid(state, Stage::weights);
        for (Index key = 0; key < 5; ++key) {
            const WordChip& chip = view.queries.chips[key];
            CHECK(chip.fill == grid.at(2, key).fill);
            CHECK(chip.weight == doctest::Approx(grid.at(2, key).value));
        }
    }
}

TEST_CASE(
    "a hovered query goes before the selected one, and without either it is the opening one") {
    AppState state = after(text_of_length(5), {GoToStage{Stage::weights}});
    const auto query = [&] { return build_sentence_view(state).query; };
    view::apply(state, ClearSelection{});
    CHECK(query() == first_pair(state).row);
    view::apply(state, SelectCell{{Stage::weights, 3, 1}});
    CHECK(query() == 3);
    view::apply(state, HoverCell{CellRef{Stage::weights, 2, 4}});
    CHECK(query() == 2);
    CHECK(build_sentence_view(state).queries.chips[4].is_key);
    view::apply(state, HoverCell{CellRef{Param::w_q, 1, 1}});
    CHECK(query() == 3);
}

TEST_CASE("a chip stands for a cell that is there: of the weights the query's largest") {
    for (AppState state : sample_states()) {
        for (const Stage stage : ribbon_stages(state.document())) {
            view::apply(state, GoToStage{stage});
            const SentenceView view = build_sentence_view(state);
            for (const WordRow* row : {&view.queries, &view.keys})
                for (const WordChip& chip : row->chips)
                    CHECK((!chip.cell || has_cell(state, *chip.cell)));
        }
    }
    const AppState state = weighing(text_of_length(4), {0.1F, 0.2F, 0.6F, 0.1F});
    CHECK(build_sentence_view(state).queries.chips[0].cell == CellRef{Stage::weights, 0, 2});
}

TEST_CASE("cross-attention has the keys' words in a row of their own") {
    AppState state = after(preset_state("cross-attention"), {GoToStage{Stage::weights}});
    const SentenceView view = build_sentence_view(state);
    CHECK(std::ssize(view.keys.chips) == state.document().size.tk);
    CHECK(std::ssize(view.queries.chips) == state.document().size.tq);
    for (const WordChip& chip : view.keys.chips) CHECK(chip.look == ChipLook::weighed);
    for (const WordChip& chip : view.queries.chips) CHECK(chip.look == ChipLook::plain);
    view::apply(state, GoToStage{Stage::k});
    for (const WordChip& chip : build_sentence_view(state).queries.chips) CHECK(!chip.cell);
}

TEST_CASE("ring and inspector follow the pointer over the weights, like headline and arcs") {
    AppState state =
        after(text_of_length(5), {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 3, 1}}});
    view::apply(state, HoverCell{CellRef{Stage::weights, 2, 4}});
    CHECK(build_step_view(state).result.selected == std::pair<Index, Index>{2, 4});
    CHECK(step_inspector(state).title == "A[w2, w4]");
    CHECK(build_step_view(state).headline.front().text == "w2");
    view::apply(state, HoverCell{std::nullopt});
    CHECK(build_step_view(state).result.selected == std::pair<Index, Index>{3, 1});
    CHECK(step_inspector(state).title == "A[w3, w1]");
}

TEST_CASE("keys that are not the queries have numbers, not the words of the queries") {
    Document document = preset_state("the-cat-sat-down").document();
    CHECK(axis_label(document, Axis::key, 1, 0) == "cat");
    document.size.tk = 6;
    CHECK(axis_label(document, Axis::key, 1, 0) == "1");
    CHECK(axis_label(document, Axis::query, 1, 0) == "cat");
}

TEST_CASE(
    "keys projected from X_kv have a row of their own, also where they are as many as queries") {
    auto inputs = std::make_shared<attn::Inputs>();
    inputs->x = attn::test::normal_tensor<float>({1, 1, 3, 4}, 1);
    inputs->x_kv = attn::test::normal_tensor<float>({1, 1, 3, 4}, 2);
    std::uint64_t seed = 3;
    for (const attn::Param param : {attn::Param::w_q, attn::Param::w_k, attn::Param::w_v})
        inputs->params[param] = attn::test::normal_tensor<float>({1, 1, 4, 4}, seed++);
    Document document = document_of({inputs}, "x.npz");
    document.tokens = {"a", "b", "c"};
    const AppState state = after(state_of(std::move(document)).value(),
                                 {GoToStage{Stage::weights}, SelectCell{{Stage::weights, 2, 1}}});
    const SentenceView view = build_sentence_view(state);
    REQUIRE(view.keys.chips.size() == 3);
    for (Index j = 0; j < 3; ++j) {
        CHECK(view.keys.chips[j].text == std::to_string(j));
        CHECK(view.keys.chips[j].look == ChipLook::weighed);
        CHECK(view.queries.chips[j].look == ChipLook::plain);
        CHECK_FALSE(view.queries.chips[j].is_key);
    }
    CHECK(view.keys.chips[1].is_key);
    CHECK(heads_input(state.document()).tokens.empty());
}
