// Predict, then reveal: a row is guessed before its stage is shown.

#include "app/workspaces/step/predict.h"
#include "app/common/document/edits.h"
#include "app/common/workspace.h"
#include "app/workspaces/step/heads.h"
#include "tests/view/view_test.h"

using namespace attn::view;
using namespace attn::test;

namespace {

AppState predicting(Actions actions = {}) {
    AppState state = after(initial_state(), {SetPredicting{true}, GoToStage{Stage::weights}});
    for (const Action& action : actions) view::apply(state, action);
    return state;
}

}  // namespace

TEST_CASE("predict: the inputs are shown, every computed stage is asked for first") {
    AppState state = after(initial_state(), {SetPredicting{true}});
    CHECK_FALSE(build_predict_view(state));  // X is given
    for (const Stage stage : {Stage::q, Stage::scores, Stage::weights, Stage::output}) {
        REQUIRE(build_predict_view(acted(state, {GoToStage{stage}})));
        CHECK(build_step_view(state).text.empty());
        CHECK(shown_workspace(state).inspector(state).empty);
        CHECK(state.message.text == "Guess a row of this stage first.");
    }
    CHECK_FALSE(build_predict_view(after(state, {ShowGradients{true}})));
    CHECK_FALSE(build_predict_view(after(state, {SetPredicting{false}})));
}

TEST_CASE("predict: no head's picture gives the row away while it is guessed") {
    AppState state = after(two_heads_state(), {SetPredicting{true}, GoToStage{Stage::weights}});
    for (const bool guessed : {true, false}) {
        REQUIRE(is_guessing(state) == guessed);
        const HeadsView view = build_heads_view(state);
        REQUIRE(view.heads.size() == 2);
        for (const HeadPicture& head : view.heads) CHECK(head.drawn != guessed);
        state = after(state, {RevealGuess{}, RevealGuess{}});
    }
}

TEST_CASE("predict: weights begin as even shares on an axis from 0 to 1, scores as 0 around 0") {
    const auto view = *build_predict_view(predicting());
    REQUIRE(view.guess.size() == 4);
    for (const double share : view.guess) CHECK(share == 0.25);
    CHECK(view.low == 0.0);
    CHECK(view.high == 1.0);
    CHECK_FALSE(view.revealed);
    CHECK(view.truth.empty());  // nothing is given away
    const AppState scores = predicting({GoToStage{Stage::scores}});
    const auto other = *build_predict_view(scores);
    CHECK(other.low == -other.high);
    CHECK(other.guess == std::vector<double>(4, 0.0));
}

TEST_CASE("predict: revealed, the difference is that of the row, by hand") {
    AppState state = predicting({SelectCell{{Stage::weights, 1, 0}}});
    const auto row = (*state.trace)[Stage::weights].matrix(0, 0).row(1);
    for (Index n = 0; n < 4; ++n) {
        const double off = n == 0 ? 0.1 : n == 1 ? -0.1 : 0.0;
        apply(state, GuessEntry{n, row[n] + off});
    }
    apply(state, RevealGuess{});
    const auto view = *build_predict_view(state);
    REQUIRE(view.revealed);
    for (std::size_t n = 0; n < 4; ++n) CHECK(view.truth[n] == static_cast<double>(row[n]));
    CHECK(view.total.starts_with("Total variation ½ Σ |guess − A| = 0.1"));
    CHECK(state.message.text == view.total);
    apply(state, GuessEntry{0, 0.9});  // too late
    CHECK(build_predict_view(state)->guess[0] == doctest::Approx(row[0] + 0.1));
    apply(state, RevealGuess{});
    CHECK_FALSE(build_predict_view(state));  // the stage itself
    CHECK_FALSE(shown_workspace(state).inspector(state).empty);
    CHECK(build_predict_view(acted(state, {GuessAgain{}}))->guess[0] == 0.25);
}

TEST_CASE("predict: an exact guess is called so, and −∞ is left out of the difference") {
    AppState state =
        after(initial_state(), {SetCausal{true}, SetPredicting{true}, GoToStage{Stage::masked},
                                SelectCell{{Stage::masked, 0, 0}}});
    REQUIRE(build_predict_view(state));
    acted(state, {GuessEntry{0, (*state.trace)[Stage::masked](0, 0, 0, 0)}, RevealGuess{}});
    const auto view = *build_predict_view(state);
    CHECK(view.total == "The guess is exact.");
    CHECK(std::isinf(view.truth[1]));
    bool left_out = false;
    for (const std::string& note : view.notes)
        left_out = left_out || note.starts_with("3 entries are no finite");
    CHECK(left_out);
}

TEST_CASE("predict: guesses stay on the axis; another stage or row is a guess of its own") {
    AppState state = predicting({GuessEntry{2, 7.0}});
    CHECK(build_predict_view(state)->guess[2] == 1.0);
    CHECK(build_predict_view(state)->column == 2);
    CHECK(build_predict_view(acted(state, {GuessEntry{2, -1.0}}))->guess[2] == 0.0);
    CHECK(acted(state, {GuessEntry{9, 0.5}}).message.severity == Severity::warning);
    CHECK(build_predict_view(acted(state, {GuessEntry{0, std::nan("")}}))->guess[0] == 0.25);
    view::apply(state, nudged_guess(state, 1));
    CHECK(build_predict_view(state)->guess[2] == doctest::Approx(0.05));
    CHECK(build_predict_view(acted(state, {PickGuess{99}}))->column == 3);
    state = predicting({SelectCell{{Stage::weights, 1, 0}}, GuessEntry{0, 0.7}});
    CHECK(build_predict_view(acted(state, {SetTemperature{2.0}}))->guess[0] == 0.7);
    CHECK(build_predict_view(after(state, {GoToStage{Stage::context}}))->guess[0] == 0.0);
    CHECK(build_predict_view(after(state, {SelectCell{{Stage::weights, 2, 0}}}))->guess[0] == 0.25);
    CHECK(build_predict_view(after(state, {SetSentence{"one two three four five six"}}))
              ->guess.size() == 6);
}

TEST_CASE("predict: mode and guess come back with the session, as drawn and as far as revealed") {
    CHECK(step_look(session_from_json(session_to_json(predicting()), "test", {}).value()).predicts);
    AppState state =
        predicting({SelectCell{{Stage::weights, 1, 0}}, GuessEntry{0, 0.7}, GuessEntry{3, 0.1}});
    for (int shown = 0; shown < 3; ++shown) {
        const std::string text = session_to_json(state);
        const AppState again = session_from_json(text, "test", {}).value();
        CHECK(session_to_json(again) == text);
        REQUIRE(step_look(again).prediction);
        CHECK(step_look(again).prediction->guess == std::vector<double>{0.7, 0.25, 0.25, 0.1});
        CHECK(step_look(again).prediction->column == 3);
        CHECK(step_look(again).prediction->revealed == (shown > 0));
        CHECK(is_guessing(again) == (shown < 2));
        AppState other = initial_state();
        restore(other, again);
        CHECK(is_guessing(other) == (shown < 2));
        if (shown < 2)
            CHECK(build_predict_view(other)->guess == step_look(again).prediction->guess);
        apply(state, RevealGuess{});
    }
}

TEST_CASE("predict: a session's guess of another row is over, a malformed one is named") {
    const std::string text =
        session_to_json(predicting({SelectCell{{Stage::weights, 3, 0}}, GuessEntry{0, 0.5}}));
    const auto with = [&](const char* from, const char* to) {
        return session_from_json(replaced(text, from, to, "\"guess\":"), "test", {});
    };
    const auto other = with("\"row\":3", "\"row\":0");
    REQUIRE(other);
    CHECK(build_predict_view(*other)->guess == std::vector<double>(4, 0.25));
    const auto shorter = with("[0.5,0.25,0.25,0.25]", "[0.5,0.25]");
    REQUIRE(shorter);
    CHECK(build_predict_view(*shorter)->guess == std::vector<double>(4, 0.25));
    const auto refused = [&](const char* from, const char* to, const char* description) {
        const auto read = with(from, to);
        REQUIRE_FALSE(read);
        CAPTURE(read.error().text());
        CHECK(has(read.error().text(), description));
    };
    refused("[0.5,", "[1.5,", "has the entry 1.5: expected a number from 0 to 1");
    refused("[0.5,", "[\"nan\",", "has the entry nan");
    refused("[0.5,0.25,0.25,0.25]", "[]", "has 0 'entries': expected 1 to 64");
    refused("\"column\":0", "\"column\":4", "has 'column' = 4: expected 0 to 3");
    refused("\"row\":3", "\"row\":-1", "'row'");
}
