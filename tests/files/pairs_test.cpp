// Weights or scores without their queries and keys that make them, roles that a person gives, tokens of a file, and files of
// which no attention can be made.

#include <cmath>
#include <fstream>

#include "app/common/actions.h"
#include "app/common/document/heads.h"
#include "app/files/tensors.h"
#include "app/window/session.h"
#include "app/workspaces/heads/compute.h"
#include "app/workspaces/heads/text.h"
#include "app/workspaces/step/view.h"
#include "app/workspaces/tensors/actions.h"
#include "app/workspaces/tensors/view.h"
#include "core/engine.h"
#include "tests/files/opened.h"

using namespace attn;
using namespace attn::files;
namespace fs = std::filesystem;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
/// [2, 2, 3], rows that sum to 1.
const std::vector<float> kWeights{1.0F, 0.0F, 0.0F, 0.5F, 0.25F, 0.25F,
                                  0.0F, 1.0F, 0.0F, 0.0F, 0.0F,  1.0F};

void write(const fs::path& path, const std::vector<NpzEntry>& entries) {
    REQUIRE(write_npz(path, entries));
}

HeadsResult heads_of(const view::AppState& state) {
    return compute_heads(view::heads_input(state.document()), {backends()});
}

}  // namespace

TEST_CASE_FIXTURE(OnDisk, "weights alone open in Heads, as the file gives them") {
    write(scratch / "w.npz", {{"weights", {2, 2, 3}, kWeights}});
    view::AppState state = opened_state(scratch / "w.npz");
    CHECK(state.workspace == "heads");
    CHECK(state.document().size.heads == 2);
    CHECK(state.document().size.tk == 3);
    CHECK(state.document().roles.at("weights") == "weights");
    const auto result = heads_of(state);
    REQUIRE(result.heads.size() == 2);
    CHECK(result.weights({0, 0})(1, 0) == 0.5F);
    CHECK(result.weights({0, 1})(1, 2) == 1.0F);
    CHECK(result.layers[0].odd.odd == 0);
    // −½ ln ½ − 2 · ¼ ln ¼ = 1.0397 in one of two rows, 0 in the other
    CHECK(*result.heads[0].measures[HeadMeasure::entropy] == doctest::Approx(1.0397208 / 2));
    CHECK(contains(view::stages_lack(state.document()), "without their queries and keys"));
    view::apply(state, view::SetWorkspace{"step"});
    CHECK(contains(state.message.text, "without their queries and keys"));
    CHECK(view::build_step_view(state).text.empty());
    CHECK(view::build_step_view(state).formula.empty());
}

TEST_CASE_FIXTURE(OnDisk, "rows that do not sum to 1 are counted and shown as they are") {
    write(scratch / "w.npz", {{"A", {2, 2}, std::vector<float>{0.5F, 0.2F, 0.5F, 0.5F}}});
    const auto result = heads_of(opened_state(scratch / "w.npz"));
    const OddRows& odd = result.layers[0].odd;
    CHECK(odd.odd == 1);
    CHECK(odd.rows == 2);
    CHECK(odd.nans == 0);
    CHECK(odd.low == doctest::Approx(0.7));
    CHECK(contains(view::odd_rows_text(result.layers[0]),
                   "1 of 2 rows of weights does not sum to 1 (Σ = 0.70)"));
    CHECK(result.weights({0, 0})(0, 1) == 0.2F);
}

TEST_CASE_FIXTURE(OnDisk, "layers by the names of output_attentions and TransformerLens") {
    for (const std::string form :
         {"attentions.{}", "layers.{}.attn_weights", "blocks.{}.attn.hook_pattern", "l{}.weights",
          "cross_attentions.{}"}) {
        std::vector<NpzEntry> entries;
        for (int n : {10, 2}) {
            std::string name = form;
            name.replace(name.find("{}"), 2, std::to_string(n));
            entries.push_back({name, {1, 2, 2, 3}, kWeights});
        }
        write(scratch / "w.npz", entries);
        const auto file = must(read_tensors(scratch.at("w.npz"), {}, Values::optional));
        CHECK(file.numbers == std::vector<Index>{2, 10});
        CHECK(file.given.size() == 2);
        CHECK(file.size.heads == 2);
    }
}

TEST_CASE_FIXTURE(OnDisk, "one array of five axes is layers") {
    std::vector<float> twice = kWeights;
    twice.insert(twice.end(), kWeights.rbegin(), kWeights.rend());
    write(scratch / "w.npz", {{"attentions", {2, 1, 2, 2, 3}, twice}});
    const auto file = must(read_tensors(scratch.at("w.npz"), {}, Values::optional));
    REQUIRE(file.given.size() == 2);
    CHECK(file.given[1].values(0, 0, 0, 0) == 1.0F);
    CHECK(file.given[1].values(0, 1, 1, 2) == 1.0F);
    CHECK(file.given[0].values(0, 0, 1, 0) == 0.5F);
}

TEST_CASE_FIXTURE(OnDisk, "scores are given to softmax, −inf is masked") {
    write(scratch / "s.npz",
          {{"masked", {2, 2}, std::vector<float>{0.0F, -kInf, 0.0F, std::log(3.0F)}}});
    const auto result = heads_of(opened_state(scratch / "s.npz"));
    CHECK(result.weights({0, 0})(0, 0) == 1.0F);
    CHECK(result.weights({0, 0})(0, 1) == 0.0F);
    CHECK(result.allowed({0, 0})[1] == 0);
    CHECK(result.weights({0, 0})(1, 1) == doctest::Approx(0.75));
}

TEST_CASE_FIXTURE(
    OnDisk, "raw scores without their scale, and other arrays, open as arrays with the reason") {
    write(scratch / "r.npz", {{"scores", {2, 2}, std::vector<float>(4, 1.0F)}});
    const view::AppState state = opened_state(scratch / "r.npz");
    CHECK(state.workspace == "tensors");
    CHECK(contains(state.document().no_attention,
                   "scores are scores q·k, and the file does not have their scale. In Arrays "
                   "choose scale none (they are already scaled, or need no scale), scale X "
                   "(multiplies the scores by X before the softmax) or d-k N"));
    CHECK(contains(view::stages_lack(state.document()), "Arrays shows why"));
}

TEST_CASE_FIXTURE(OnDisk, "raw scores of which the scale was said") {
    // q·k = 0 and 4 ln 3: with d_k 16 the second key weighs 3 / 4
    write(scratch / "r.npz", {{"scores", {1, 2}, std::vector<float>{0.0F, 4.0F * std::log(3.0F)}}});
    const auto half = heads_of(opened_state(scratch / "r.npz", R"({"d_k": 16})"));
    CHECK(half.weights({0, 0})(0, 1) == doctest::Approx(0.75));
    const auto whole = heads_of(opened_state(scratch / "r.npz", R"({"scale": "none"})"));
    CHECK(whole.weights({0, 0})(0, 1) == doctest::Approx(81.0 / 82.0));
    const auto both =
        read_tensors(scratch.at("r.npz"), {{"d-k", {"--d-k", "16"}}, {"scale", {"--scale", "2"}}});
    CHECK(contains(both.error().text(), "--d-k is 16 together with scale 2; expected one of them"));
}

TEST_CASE_FIXTURE(OnDisk, "what a file leaves open is asked in Arrays, and an answer opens it") {
    write(scratch / "r.npz", {{"scores", {1, 2}, std::vector<float>{0.0F, 4.0F * std::log(3.0F)}},
                              {"V", {2, 16}, std::vector<float>(32, 1.0F)}});
    view::AppState state = opened_state(scratch / "r.npz");
    REQUIRE(state.document().question);
    REQUIRE(state.document().question->answers.size() == 4);
    CHECK(state.document().question->answers[1].title == "raw, × 1/√16");
    view::apply(state, view::AnswerTensors{"d-k", "17"});
    CHECK_FALSE(state.opening);
    view::apply(state, view::AnswerTensors{"d-k", "16"});
    REQUIRE(state.opening);
    CHECK(state.opening->options == R"({"d-k":"16"})");
    const auto result = heads_of(opened_state(scratch / "r.npz", state.opening->options));
    CHECK(result.weights({0, 0})(0, 1) == doctest::Approx(0.75));

    const std::vector<float> q(2, 1.0F), k(3, 1.0F);
    write(scratch / "c.npz", {{"Q", {2, 1}, q}, {"K", {3, 1}, k}, {"V", {3, 1}, k}});
    const view::AppState open_corner = opened_state(scratch / "c.npz", R"({"causal": true})");
    CHECK(open_corner.workspace == "tensors");
    REQUIRE(open_corner.document().question);
    CHECK(open_corner.document().question->answers[1].meaning ==
          "Query i sees keys 0 to i + 1: decoding with a KV cache.");
    CHECK(view::build_tensors_view(open_corner).answers[1].title == "B: bottom-right");
    const view::AppState stated = opened_state(scratch / "c.npz", R"({"causal": "bottom-right"})");
    CHECK_FALSE(stated.document().question);
    CHECK(stated.document().no_attention.empty());
}

TEST_CASE_FIXTURE(OnDisk, "a weight as nn.Linear stores it gives the numbers of its transpose") {
    const std::vector<float> x{1, 2, 3, 4, 5, 7}, w{1, 2, 3, 4, 5, 6}, turned{1, 3, 5, 2, 4, 6};
    const auto with = [&](const char* name, std::vector<Index> extents,
                          const std::vector<float>& values) {
        return std::vector<NpzEntry>{{"X", {2, 3}, x},
                                     {name, std::move(extents), values},
                                     {"W_K", {3, 2}, w},
                                     {"W_V", {3, 2}, w}};
    };
    write(scratch / "a.npz", with("W_Q", {3, 2}, w));
    write(scratch / "b.npz", with("q.weight", {2, 3}, turned));
    const auto plain = must(read_tensors(scratch.at("a.npz")));
    const auto torch =
        must(read_tensors(scratch.at("b.npz"), {{"role", {"--role", "q.weight=W_Q.T"}}}));
    const Trace a = attend(plain.layers[0], plain.spec, "reference").value();
    const Trace b = attend(torch.layers[0], torch.spec, "reference").value();
    CHECK(a[Stage::q](0, 0, 0, 0) == 22.0F);  // 1 · 1 + 2 · 3 + 3 · 5
    for (const StageInfo& row : stage_table())
        CHECK(std::ranges::equal(a[row.stage].values(), b[row.stage].values()));
    CHECK(torch.param_extents[0][index_of(Param::w_q)] == std::vector<Index>{3, 2});
    CHECK(torch.roles.at("q.weight") == "W_Q.T");
    CHECK(std::ranges::any_of(torch.notes, [](const Note& note) {
        return contains(note.text,
                        "q.weight is read transposed, [out, in]; gradients are [in, out]");
    }));
    const auto wrong = read_tensors(scratch.at("b.npz"), {{"role", {"--role", "q.weight=W_Q"}}});
    CHECK_FALSE(wrong);
}

TEST_CASE_FIXTURE(OnDisk, "V beside weights makes the norms and shares of heads") {
    const std::vector<float> v{3.0F, 4.0F, 0.0F, 0.0F, 0.0F, 2.0F};  // [3, 2], one head of values
    write(scratch / "w.npz", {{"weights", {2, 2, 3}, kWeights},
                              {"V", {1, 3, 2}, v},
                              {"W_O", {4, 1}, std::vector<float>{1.0F, 1.0F, 1.0F, 0.0F}}});
    const view::AppState state = opened_state(scratch / "w.npz");
    CHECK(state.document().roles.at("V") == "V");
    CHECK(state.document().roles.at("W_O") == "W_O");
    CHECK(state.document().size.d_v == 2);
    const auto result = heads_of(state);
    CHECK(result.layers[0].value_fault.empty());
    REQUIRE(result.layers[0].value_norms.size() == 2);
    CHECK(result.layers[0].value_norms[0][0] == doctest::Approx(5.0));
    CHECK(result.layers[0].value_norms[1][2] == doctest::Approx(2.0));
    CHECK(result.layers[0].output_norms[0][0] == doctest::Approx(7.0));  // 3 + 4
    CHECK(result.layers[0].output_norms[1][0] == doctest::Approx(3.0));
    CHECK(result.heads[0].measures[HeadMeasure::norm_share].has_value());
    CHECK(result.weights({0, 0})(1, 0) == 0.5F);
}

TEST_CASE_FIXTURE(OnDisk, "a role makes an array what its name does not say") {
    write(scratch / "a.npz", {{"a", {2, 2, 3}, kWeights}, {"b", {2, 2, 3}, kWeights}});
    CHECK_FALSE(open(scratch / "a.npz")->document->no_attention.empty());
    const auto weights = must(open(scratch / "a.npz", R"({"role": "a=weights"})"));
    CHECK(weights.document->given.size() == 1);
    const auto pair = must(open(scratch / "a.npz", R"({"role": "a=Q,b=K"})"));
    CHECK(pair.document->inputs->q.shape() == Shape{1, 2, 2, 3});
    CHECK(pair.document->roles.at("b") == "K");
    const auto none = must(open(scratch / "a.npz", R"({"role": "a=Q,c=K"})"));
    CHECK(contains(none.document->no_attention, "has no array c to be read as K"));
    const auto wrong = must(open(scratch / "a.npz", R"({"role": "a=queries"})"));
    CHECK(contains(wrong.document->no_attention, "expected NAME=ROLE"));
}

TEST_CASE_FIXTURE(
    OnDisk,
    "what is chosen in Arrays opens the file again with it, and what is read is not asked about") {
    write(scratch / "a.npz", {{"scores", {2, 2, 3}, kWeights}});
    view::AppState state = opened_state(scratch / "a.npz", R"({"scale": 0.5, "temperature": 2})");
    CHECK(view::tensors_look(state).options.at("scale") == "0.5");
    view::apply(state, view::SetTensorOption{"scale", ""});
    view::apply(state, view::SetTensorOption{"d-k", "16"});
    view::apply(state, view::SetTensorOption{"causal", "bottom-right"});
    CHECK(state.message.text == "Press “Apply” (Enter) to open the file with this option.");
    view::apply(state, view::ReadTensors{});
    REQUIRE(state.opening);
    CHECK(state.opening->options == R"({"temperature":2,"causal":"bottom-right","d-k":"16"})");
    const auto again = must(open(scratch / "a.npz", state.opening->options));
    CHECK(again.document->spec.scale_value == 0.25);
    CHECK(again.document->spec.mask.causal == CausalAlign::bottom_right);
    view::apply(state, view::SetTensorOption{"causal", "left"});
    CHECK(state.message.text == "Causal is 'left'; expected top-left or bottom-right.");
    view::apply(state, view::SetTensorOption{"window", "1"});
    CHECK(state.message.text == "There is no option 'window'.");
}

TEST_CASE_FIXTURE(OnDisk,
                  "a session that says the corner of its causal mask opens a file that does not") {
    const std::vector<float> q(2, 1.0F), k(3, 1.0F);
    write(scratch / "c.npz", {{"Q", {2, 1}, q}, {"K", {3, 1}, k}, {"V", {3, 1}, k}});
    view::AppState state = opened_state(scratch / "c.npz", R"({"causal": "top-left"})");
    std::string text = view::session_to_json(state, scratch / "");
    const std::size_t word = text.find("top-left");
    REQUIRE(word != std::string::npos);
    text.replace(word - 2, 12, "true");  // \"top-left\" of the options: as an older session has it
    std::ofstream(scratch / "s.json") << text;
    const auto again = must(open(scratch / "s.json"));
    CHECK(again.document->no_attention.empty());
    CHECK(again.document->spec.mask.causal == CausalAlign::top_left);
    CHECK(again.document->size.tk == 3);
}

TEST_CASE_FIXTURE(OnDisk, "a session of given weights opens again, with its roles") {
    write(scratch / "a.npz", {{"a", {2, 2, 3}, kWeights}});
    const view::AppState state = opened_state(scratch / "a.npz", R"({"role": "a=weights"})");
    std::ofstream(scratch / "s.json") << view::session_to_json(state, scratch / "");
    const auto again = must(open(scratch / "s.json"));
    CHECK(again.document->given.size() == 1);
    CHECK(again.session->workspace == "heads");
}

TEST_CASE_FIXTURE(OnDisk, "tokens of a text or JSON file") {
    write(scratch / "w.npz", {{"weights", {2, 2, 3}, kWeights}});
    const auto tokens = [&](const std::string& text) {
        std::ofstream(scratch / "t") << text;
        const OptionValues given{{"tokens", {"--tokens", scratch.at("t")}}};
        return read_tensors(scratch.at("w.npz"), given, Values::optional);
    };
    CHECK(tokens("new york\ncity\n")->tokens == std::vector<std::string>{"new york", "city"});
    CHECK(tokens("the cat")->tokens == std::vector<std::string>{"the", "cat"});
    CHECK(tokens(R"(["a b", "c"])")->tokens == std::vector<std::string>{"a b", "c"});
    CHECK(tokens(R"({"tokens": ["x", "y"]})")->tokens == std::vector<std::string>{"x", "y"});
    CHECK(contains(tokens("one two three").error().text(), "3 tokens, but there are 2 queries"));
    CHECK(contains(tokens("[1, 2]").error().text(), "expected a JSON list of strings"));
}
