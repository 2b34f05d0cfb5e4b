// A state as a text: short, the same screen again, and refused where it is broken.

#include "app/window/state_text.h"
#include "app/common/document/document.h"
#include "app/common/document/opened.h"

#include <nlohmann/json.hpp>

#include "app/common/document/intervention_effects.h"
#include "app/window/lecture_actions.h"
#include "app/workspaces/cost/actions.h"
#include "app/workspaces/learn/actions.h"
#include "app/workspaces/saturation/actions.h"
#include "app/workspaces/verify/state.h"
#include "core/io/packed_text.h"
#include "tests/support/random_journal.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

AppState pasted(const std::string& text) {
    const auto read = state_from_text(text);
    REQUIRE_MESSAGE(read.has_value(), (read ? std::string() : read.error().text()));
    return *read;
}

std::string why_not(const std::string& text) {
    const auto read = state_from_text(text);
    REQUIRE_FALSE(read);
    return read.error().text();
}

/// What a session says of a state, without what just happened.
std::string screen_of(AppState state) {
    state.message = {};
    return session_to_json(state);
}

/// Files are opened as the window does: what a text opens, and nothing else.
Result<Opened> open_text(const OpenRequest& request, const RunControl&) {
    return state_from_text(std::get<std::string>(request.what)).map([](const AppState& state) {
        return Opened{state.shared_document(), std::make_shared<const AppState>(state), {}};
    });
}

AppState opened_by_palette(AppState state, const std::string& text) {
    acted(state, {ShowPalette{true}, SetPaletteQuery{text}});
    const auto found = find_commands(state, state.palette_query);
    REQUIRE(found.size() == 1);
    CHECK(found[0].text == "Open the pasted state");
    acted(state, chosen(found[0]));
    answer_all(state, open_text);
    return state;
}

}  // namespace

TEST_CASE("state text: the first launch is next to nothing, a sentence with settings is short") {
    CHECK(state_to_text(initial_state()).size() < 40);
    const std::map<std::string, AppState> states{
        {"kinds, causal, not scaled",
         after(initial_state(), {SetSentence{"the old river bank was steep"}, SetCausal{true},
                                 SetScaling{false}, SetWorkspace{"kinds"}})},
        {"step, softmax, τ",
         after(initial_state(), {SetSentence{"she gave the dog a bone"}, SetTemperature{0.5},
                                 SetCausal{true}, GoToStage{Stage::weights}})},
        {"saturation",
         after(initial_state(), {SetSentence{"to be or not to be"}, SetWorkspace{"saturation"},
                                 SetSaturationWidth{128}, ShowRawDerivative{true}})},
        {"learn", after(initial_state(), {SetWorkspace{"learn"}, LoadExperiment{"recall"},
                                          SetTheme{ThemeName::light}})},
        {"learn, A alone, other settings than what was trained",
         after(initial_state(),
               {SetWorkspace{"learn"}, LoadExperiment{"induction"}, SetLearnDifference{""},
                NewTraining{}, TrainTo{3}, LoadExperiment{"narrow"}})},
        {"cost", after(initial_state(), {SetSentence{"a rose is a rose"}, SetWorkspace{"cost"},
                                         SetCostTokens{2048}, SetHeads{2}})}};
    for (const auto& [name, state] : states) {
        CAPTURE(name);
        const std::string text = state_to_text(state);
        MESSAGE(name << ": " << text.size());
        CHECK(text.size() <= 300);
        CHECK(screen_of(pasted(text)) == screen_of(state));
    }
}

TEST_CASE("state text: one of Learn that was copied before still opens") {
    const std::string settings =
        R"("a":{"task":"sort","tokens":16,"symbols":16},"b":{"task":"sort","tokens":16,"symbols":16,)"
        R"("heads":2,"scaling":true},"differs":"heads")";
    const AppState state =
        pasted("attnscope:" + packed_text(R"({"learn":{"settings":{)" + settings +
                                          R"(},"plan":{"of":{)" + settings + R"(},"until":0,)" +
                                          R"("seeds":1}},"window":{"workspace":"learn"}})"));
    REQUIRE(learn_look(state).plan);
    CHECK(learn_look(state).plan->controls.a.task == train::Task::sort);
    CHECK(learn_look(state).plan->controls.b.heads == 2);
}

TEST_CASE("state text: whatever a journal leads to comes back, but for what just happened") {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        AppState state = initial_state();
        for (const Action& action : test::random_journal(seed)) {
            view::apply(state, action);
            answer_all(state);
        }
        if (!is_toy(state.document())) continue;
        const auto read = state_from_text(state_to_text(state));
        REQUIRE(read);
        CHECK(screen_of(*read) == screen_of(state));
    }
}

TEST_CASE("state text: a cell that was typed, and every preset, come back to the bit") {
    for (const Preset& preset : list_presets()) {
        CAPTURE(preset.key);
        AppState state = preset_state(preset.key);
        if (!state.document().tokens.empty()) acted(state, {SetCell{{Param::w_q, 0, 0}, 0.1F}});
        const AppState read = pasted(state_to_text(state));
        CHECK(read.document().inputs->x == state.document().inputs->x);
        CHECK(read.document().inputs->params[Param::w_q] ==
              state.document().inputs->params[Param::w_q]);
        CHECK(screen_of(read) == screen_of(state));
    }
}

TEST_CASE("state text: Ctrl+K copies it and opens what is pasted; undo brings back what was") {
    const AppState state = after(initial_state(), {SetSentence{"a b c"}, SetCausal{true},
                                                   SetWorkspace{"masks"}, CopyState{}});
    REQUIRE(state.effects.clipboard);
    const std::string text = *state.effects.clipboard;
    CHECK(has(state.message.text, "as text, " + std::to_string(text.size()) + " characters"));
    CHECK_FALSE(find_commands(state, "copy state text").empty());
    for (const std::string& around : {text, "  " + text + "\n"}) {
        const AppState there = opened_by_palette(initial_state(), around);
        CHECK(there.workspace == "masks");
        CHECK(there.document().sentence == "a b c");
        CHECK(there.session_file.empty());
        CHECK_FALSE(there.show_palette);
        CHECK(after(there, {Undo{}}).document().sentence == "The cat sat down");
    }
}

TEST_CASE("state text: a broken one is said to be so, and nothing is lost") {
    const std::string text = state_to_text(after(initial_state(), {SetSentence{"a b c"}}));
    AppState before = after(initial_state(), {SetScaling{false}, SetWorkspace{"masks"}});
    for (const std::string& broken : {text.substr(0, text.size() / 2), text + "AA", text + "!",
                                      std::string("attnscope:"), std::string("attnscope:hello")}) {
        CAPTURE(broken);
        const AppState there = opened_by_palette(before, broken);
        CHECK(there.message.severity == Severity::error);
        CHECK(there.message.text.starts_with("The state that was pasted: "));
        CHECK(there.message.text.size() < 200);
        CHECK(there.now == before.now);
        CHECK(screen_of(there) == screen_of(before));
    }
    const auto of = [](const std::string& patch) {
        return why_not("attnscope:" + packed_text(patch));
    };
    CHECK(of("[]") == "the state that was pasted: expected an object, a JSON merge patch");
    CHECK(has(of("{"), "is not valid JSON"));
    CHECK(has(of(R"({"window":{"workspace":"attic"}})"), "'workspace' = \"attic\": expected"));
    CHECK(has(of(R"({"attnscope_session":99})"), "session of version 99"));
    CHECK(has(of(R"({"document":{"d_k":-1}})"), "d_k"));
    CHECK(has(of(R"({"document":null})"), "has no 'document'"));
    CHECK(
        has(of("{\"a\":" + std::string(100, '[') + std::string(100, ']') + "}"), "nested deeper"));
    CHECK(has(why_not("attnscope:" + packed_text(std::string(std::size_t{1} << 26, ' '))),
              "it holds more than 4194304 bytes"));
}

TEST_CASE("state text: mutated patches never crash") {
    const std::string packed = state_to_text(
        after(initial_state(), {SetSentence{"a b c"}, SetCausal{true}, SetWorkspace{"kinds"}}));
    const std::string patch =
        R"({"document":{"causal":true,"sentence":"a b c","X":null,"W_Q":null},)"
        R"("window":{"workspace":"kinds"},"step":{"stage":"weights"}})";
    REQUIRE(state_from_text(packed));
    int opened = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        std::string other = patch;
        for (std::uint64_t n = 0; n <= seed % 3; ++n) {
            const std::size_t at = mix(seed, n) % other.size();
            if (mix(seed, n + 10) % 2 == 0)
                other[at] = static_cast<char>(32 + mix(seed, n + 20) % 95);
            else
                other.erase(at, 1 + mix(seed, n + 30) % 8);
        }
        const auto read = state_from_text("attnscope:" + packed_text(other));
        opened += read ? 1 : 0;
        if (!read) CHECK_FALSE(read.error().text().empty());
    }
    CHECK(opened < 300);
}

TEST_CASE(
    "state text: without a version it has the first version's defaults; a later one is refused") {
    const auto width = [](const nlohmann::json& patch) {
        const auto read = state_from_patch(patch, "patch", {});
        return read ? std::to_string(saturation_controls(*read).d_k) : read.error().text();
    };
    CHECK(width(nlohmann::json::object()) == "64");
    CHECK(width({{"saturation", {{"d_k", 128}}}}) == "128");
    CHECK(width({{"defaults", 2}}) == "512");
    CHECK(has(width({{"defaults", 4}}), "'defaults' = 4: expected 1 to 3"));
    CHECK(has(width({{"defaults", "x"}}), "expected 1 to 3"));
    const auto fault = [](const nlohmann::json& patch) {
        const auto read = state_from_patch(patch, "patch", {});
        return read ? verify_look(*read).fault : read.error().text();
    };
    CHECK(fault(nlohmann::json::object()).empty());
    CHECK(fault({{"defaults", 2}}).empty());
    CHECK(fault({{"defaults", 3}}) == kExampleFault);
    CHECK(fault({{"verify", {{"fault", "scale"}}}}) == "scale");
}
