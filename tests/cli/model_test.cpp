// `trace --model`: what a model's folder computes for a text.
#include <fstream>

#include "app/cli/start.h"
#include "app/view/requests.h"
#include "tests/cli/command.h"
#include "tests/support/small_models.h"

using namespace attn;
namespace fs = std::filesystem;

using test::gpt2_folder;

TEST_CASE("every layer of a text is saved, with its tokens and logits") {
    const Scratch scratch;
    const std::string folder = gpt2_folder(scratch).string();
    const std::string target = (scratch / "out.npz").string();
    const Ran ran = command({"trace", "--model", folder, "--text", "abba c", "-o", target});
    CAPTURE(ran.err);
    REQUIRE(ran.code == cli::kSuccess);
    CHECK(ran.err.empty());
    CHECK(says(ran.out, "GPT-2: 2 layers, 3 heads, width 24; 5 tokens"));
    CHECK(says(ran.out, "  ab b a ▁ c\n"));
    const auto likely = ran.out.substr(ran.out.find("next token:"));
    CHECK(std::ranges::count(likely, '%') == 5);
    const Npz out = read_npz(target).value();
    CHECK(std::get<std::vector<std::string>>(out.arrays.at("tokens").values) ==
          std::vector<std::string>{"ab", "b", "a", "▁", "c"});
    CHECK(floats(out, "token_ids") == std::vector<float>{2, 1, 0, 3, 4});
    using Axes = std::vector<Index>;
    for (const char* layer : {"l0.", "l1."}) {
        CHECK(extents(out, layer + std::string("x")) == Axes{1, 5, 24});
        CHECK(extents(out, layer + std::string("q")) == Axes{1, 3, 5, 8});
        CHECK(extents(out, layer + std::string("logsumexp")) == Axes{1, 3, 5});
        CHECK(extents(out, layer + std::string("residual")) == Axes{1, 5, 24});
        const std::vector<float> weights = floats(out, layer + std::string("weights"));
        REQUIRE(weights.size() == 75);
        CHECK(weights[0] == 1.0F);  // causal: the first token sees itself alone
        CHECK(weights[1] == 0.0F);
        CHECK(weights[5] + weights[6] == doctest::Approx(1.0));
    }
    CHECK(extents(out, "logits") == Axes{1, 5, 50});
}

TEST_CASE("--keep leaves the other stages out, and the output opens as tensors") {
    const Scratch scratch;
    const std::string folder = gpt2_folder(scratch).string();
    const std::string target = (scratch / "out.npz").string();
    REQUIRE(command({"trace", "--model", folder, "--text", "ab", "-o", target, "--keep", "q,k,v"})
                .code == cli::kSuccess);
    CHECK_FALSE(read_npz(target).value().arrays.contains("l0.weights"));
    const std::string again = (scratch / "again.npz").string();
    const Ran ran = command({"trace", target, "--layer", "1", "--causal", "-o", again});
    CAPTURE(ran.err);
    CHECK(ran.code == cli::kSuccess);
    CHECK(extents(read_npz(again).value(), "weights") == std::vector<Index>{1, 3, 1, 1});
}

TEST_CASE("what does not go with --model is refused by its name") {
    const Scratch scratch;
    const std::string folder = gpt2_folder(scratch).string();
    const auto refused = [&](std::vector<std::string> more, const std::string& words) {
        more.insert(more.begin(), "trace");
        check_refused(more, words);
    };
    refused({"--model", folder, "-o", "o.npz"},
            "--model has no --text; expected the text it reads");
    refused({"--text", "a", "-o", "o.npz"}, "--text has no --model; expected its folder");
    refused({"--model", folder, "--text", "a"}, "expected an output file: -o OUT.npz");
    refused({"--model", folder, "--text", "", "-o", "o.npz"}, "the text has no token");
    refused({"in.npz", "--model", folder, "--text", "a", "-o", "o.npz"},
            "'in.npz' is given beside --model; expected one of them");
    refused({"--model", folder, "--text", "a", "-o", "o.npz", "--causal"},
            "--causal does not apply to --model: its config.json says");
    refused({"--model", folder, "--text", "a", "-o", "o.npz", "--grad"},
            "--grad does not apply to --model");
    refused({"--model", folder, "--text", "a", "-o", "o.txt"}, "o.txt");
    refused({"--model", "/nowhere", "--text", "a", "-o", "o.npz"}, "/nowhere/config.json");
    refused({"--model", folder, "--text", std::string(40, 'c'), "-o", "o.npz"},
            "the text has 40 tokens; this model takes 16");
}

TEST_CASE("--text opens the window or render over what a model reads") {
    const Scratch scratch;
    cli::StartOptions options;
    options.files = {gpt2_folder(scratch).string()};
    options.text = "ab ac";
    REQUIRE(cli::settle_start(options, {}));
    std::ostringstream out;
    std::ostringstream err;
    auto start = cli::read_start(options, {out, err});
    REQUIRE(start);
    view::AppState state = start->state;
    view::play(state, start->actions, start->open);
    CHECK(view::text_of(state.document()) == "ab ac");
    CHECK(state.document().tokens == std::vector<std::string>{"ab", "▁", "a", "c"});
    CHECK(state.step.sentence_draft == "ab ac");
    options.text = std::string(40, 'c');
    CHECK(cli::read_start(options, {out, err}).error().sentence ==
          "the text has 40 tokens; this model takes 16");
}

TEST_CASE("--text with what is no model is refused by its name") {
    const std::string expected =
        "--text is for a trained model, a folder whose config.json has a model_type; ";
    check_refused({"render", golden("qkv.npz"), "--text", "a", "-o", "x.png"},
                  expected + "'" + golden("qkv.npz") + "' is none");
    check_refused({"render", "--text", "a", "-o", "x.png"}, expected + "no file is given");
    check_refused({"render", "/nowhere", "--text", "a", "-o", "x.png"}, "'/nowhere' is none");
}
