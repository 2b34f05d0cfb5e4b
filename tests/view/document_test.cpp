#include <nlohmann/json.hpp>

#include "app/common/document/reference.h"
#include "app/common/document/toy.h"
#include "app/common/tokens.h"
#include "tests/view/view_test.h"

using namespace attn::view;

namespace {

std::string fault(const std::string& json) {
    const auto document = document_from_json(json, "cats.json");
    REQUIRE_FALSE(document);
    return document.error().text();
}

const std::string kHead = R"({"title": "t", "note": "n", "sentence": "a b", )";

}  // namespace

TEST_CASE("a sentence splits at white space; a word has one vector, wherever it stands") {
    CHECK(tokenize("  The cat\tsat\n") == std::vector<std::string>{"The", "cat", "sat"});
    CHECK(tokenize("猫 läuft") == std::vector<std::string>{"猫", "läuft"});
    CHECK(tokenize(" \n").empty());
    const Tensor x = toy_vectors({"a", "b", "a"}, 6);
    for (Index c = 0; c < 6; ++c) {
        const double first = x(0, 0, 0, c) - position_value(0, c);
        CHECK(first == doctest::Approx(x(0, 0, 2, c) - position_value(2, c)).epsilon(1e-5));
    }
}

TEST_CASE("every preset loads, computes, and says that its weights are toys") {
    const auto presets = list_presets();
    CHECK(presets.size() >= 10);
    for (const Preset& preset : presets) {
        CAPTURE(preset.key);
        const auto document = load_preset(preset.key);
        if (!document) MESSAGE(document.error().text());
        REQUIRE(document);
        const bool reported = has(document->note, "toy");
        CHECK(reported);
        CHECK(state_of(*document));
    }
}

TEST_CASE("the toy sentence has the vectors that the text prints, its -0.00 shown as 0.00") {
    const Tensor expected({1, 1, 4, 4}, {.30F, .60F, .10F, .70F, .54F, .51F, .37F, .68F,  //
                                         .72F, .27F, .34F, .63F, .80F, .00F, .05F, .55F});
    const AppState state = initial_state();
    CHECK(state.document().tokens == std::vector<std::string>{"The", "cat", "sat", "down"});
    CHECK(std::ranges::equal(state.document().inputs->x.values(), expected.values()));
    CHECK(build_step_view(state).result.cells[13].text == "0.00");
}

TEST_CASE("a document survives JSON, to the last bit; training off too, without dropout") {
    for (const AppState& state : sample_states()) {
        if (!is_toy(state.document())) continue;  // a file's has no JSON of its own
        const std::string text = document_to_json(state.document());
        const auto read = document_from_json(text, "copy");
        if (!read) MESSAGE(read.error().text());
        REQUIRE(read);
        CHECK(document_to_json(*read) == text);
    }
    const auto off = document_from_json(kHead + R"("dropout": 0.5, "training": false})", "off");
    REQUIRE(off);
    CHECK(!off->spec.training);
    CHECK(stage_shape(Stage::dropped, off->size, off->spec).count() == 0);
    const auto again = document_from_json(document_to_json(*off), "again");
    REQUIRE(again);
    CHECK(!again->spec.training);
    CHECK(again->spec.dropout == 0.5);
    const auto on = document_from_json(kHead + R"("dropout": 0.5})", "on");
    REQUIRE(on);
    CHECK(on->spec.training);
    CHECK(stage_shape(Stage::dropped, on->size, on->spec).count() != 0);
}

TEST_CASE("a wrong document names the key or the row and what was expected") {
    CHECK(has(fault(kHead + R"("scal": 1})"), "unknown key 'scal'"));
    CHECK(has(fault(R"({"note": "n", "sentence": "a"})"), "has no 'title'"));
    CHECK(has(fault(kHead + R"("X": [[1, 2], [3]]})"),
              "X row 1 has 1 numbers, expected d_model = 2"));
    CHECK(has(fault(kHead + R"("X": [[1, 2]]})"), "X has 1 rows, expected one for each token = 2"));
    CHECK(has(fault(kHead + R"("d_model": 2, "heads": 2, "W_Q": [[1, 2, 3, 4], [1, 2, 3]]})"),
              "W_Q row 1 has 3 numbers, expected d_k·heads = 4"));
    CHECK(has(fault(kHead + R"("X": [[1, "x"], [1, 2]]})"), "X row 0 has \"x\" in column 1"));
    CHECK(has(fault(kHead + R"("X": [[1, 1e39], [1, 2]]})"), "1e+39 in column 1: float32 holds"));
    CHECK(has(fault(kHead + R"("heads": 17})"), "heads is 17: it must be 1 to 16"));
    CHECK(has(fault(kHead + R"("scale": "sqrt"})"),
              "expected \"sqrt_dk\", \"q_and_k\", \"none\" or a number"));
    CHECK(has(fault(kHead + R"("causal": "left"})"), "\"top-left\" or \"bottom-right\""));
    CHECK(has(fault(kHead + R"("temperature": 0})"), "temperature is 0"));
    CHECK(has(fault(kHead + R"("X_kv": [[1]]})"), "no words for it: give 'source'"));
    CHECK(has(fault("[1]"), "expected an object"));
    CHECK(has(fault(kHead), "not valid JSON at line 1"));
}

TEST_CASE("a session with any byte changed opens or says why, and never breaks") {
    const std::string good =
        session_to_json(after(initial_state(), {SelectCell{{Stage::x, 1, 1}}, SetCausal{true}}));
    REQUIRE(session_from_json(good, "session"));
    constexpr std::string_view kOthers = R"(9-"})";
    for (std::size_t n = 0; n < good.size(); ++n) {
        std::string bad = good;
        bad[n] = kOthers[(n + n / kOthers.size()) % kOthers.size()];
        const auto opened = session_from_json(bad, "session");
        if (!opened) CHECK_FALSE(opened.error().text().empty());
    }
}

TEST_CASE("a session of a file keeps the kind of attention that the file says") {
    auto inputs = std::make_shared<Inputs>();
    inputs->q = inputs->k = inputs->v = Tensor({1, 1, 3, 4}, 1.0F);
    inputs->params[Param::sinks] = Tensor({1, 1, 1, 1}, 0.5F);
    Document file;
    file.layers = {inputs};
    file.inputs = inputs;
    file.origin = FileOrigin{"x.npz"};
    file.spec.rope = Rope{};
    file.spec.softcap = 2.0;
    file.spec.alibi = true;
    file.spec.query_offset = 1;
    file.spec.mask.window_left = 1;
    file.spec.mask.window_right = 2;
    file.spec.mask.global_tokens = 1;
    const auto reference = reference_from_json(
        nlohmann::json::parse(R"({"file": "x.npz", "causal": true, "temperature": 0.5})"),
        "session");
    REQUIRE(reference);
    const auto document = resolved(file, *reference);
    REQUIRE_MESSAGE(document.has_value(), document.error().text());
    const AttentionSpec& spec = document->spec;
    CHECK(spec.mask.causal == CausalAlign::top_left);  // the session's
    CHECK(spec.temperature == 0.5);
    CHECK(spec.rope.has_value());
    CHECK(spec.softcap == 2.0);
    CHECK(spec.alibi);
    CHECK(spec.query_offset == 1);
    CHECK(spec.mask.window_left == 1);
    CHECK(spec.mask.window_right == 2);
    CHECK(spec.mask.global_tokens == 1);
    CHECK(stages_lack(*document).empty());
}

TEST_CASE("a session that points outside its document is refused") {
    const auto refused_session = [](const std::string& part) {
        return !session_from_json(
            "{\"document\": {\"title\": \"t\", \"note\": \"n\", \"sentence\": \"a b\"}" + part +
                "}",
            "session");
    };
    const auto refused = [&](const std::string& step) {
        return refused_session(R"(, "step": {)" + step + "}");
    };
    const auto refused_place = [&](const std::string& place) {
        return refused_session(R"(, "place": {)" + place + "}");
    };
    CHECK_FALSE(refused_session(""));
    CHECK_FALSE(refused_session(R"(, "attnscope_session": 2)"));
    CHECK(refused_session(R"(, "attnscope_session": 1)"));
    CHECK_FALSE(refused_place(R"("batch": 0, "head": 0)"));
    CHECK(refused_place(R"("head": 1)"));
    CHECK(refused_place(R"("head": -1)"));
    CHECK(refused_place(R"("batch": 1)"));
    CHECK_FALSE(refused(""));
    CHECK(refused(R"("stage": "x_kv")"));
    CHECK(refused(R"("selected": {"tensor": "x", "row": 2, "column": 0})"));
    CHECK(refused(R"("selected": {"tensor": "b_q", "row": 0, "column": 0})"));
}

TEST_CASE("a session keeps what this version does not know; of a missing backend it has auto") {
    const std::string text =
        R"({"document": {"title": "t", "note": "n", "sentence": "a b"}, "hue": {"of": [1, 2]},)"
        R"( "window": {"tint": "warm"}, "step": {"fade": 2}})";
    const auto read = session_from_json(text, "session");
    REQUIRE(read);
    CHECK(read->unknown_fields.size() == 3);
    const std::string again = session_to_json(*read);
    CHECK(has(again, R"("hue": {"of":[1,2]})"));
    CHECK(has(again, R"("tint":"warm")"));
    CHECK(has(again, R"("fade":2)"));
    const auto twice = session_from_json(again, "session");
    REQUIRE(twice);
    CHECK(session_to_json(*twice) == again);
    CHECK_FALSE(session_from_json(
        R"({"document": {"title": "t", "note": "n", "sentence": "a b", "scal": 1}})", "session"));
    AppState state = initial_state();
    state.backend = "tpu";
    const AppState opened = reopened(state);
    CHECK(opened.backend == kAuto);
    CHECK(opened.message.severity == Severity::warning);
    CHECK(opened.message.text.find("There is no backend tpu here") == 0);
    CHECK(!(*opened.trace)[Stage::output].empty());
}

TEST_CASE("a session or preset with one key twice is refused, and a whole size may be 4.0") {
    CHECK(has(fault(kHead + R"("d_k": 2, "d_k": 3})"), "has the key 'd_k' twice"));
    CHECK(document_from_json(kHead + R"("d_k": 4.0})", "f.json"));
    CHECK(has(fault(kHead + R"("d_k": 4.5})"), "'d_k' = 4.5: expected a whole number"));
    CHECK(fault(kHead + R"("scale": [)" + std::string(99999, '1') + "]}").size() < 300);
}
