// Each family's folder, traced: the file opens again with the same weights in every layer, whatever each layer's window and RoPE.

#include <nlohmann/json.hpp>

#include <fstream>

#include <fmt/format.h>

#include "app/files/tensors.h"
#include "core/engine.h"
#include "core/given.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/io/png_image.h"
#include "core/models/config.h"
#include "core/models/family.h"
#include "tests/cli/command.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

std::string trace_of(const Scratch& scratch, const std::string& family) {
    const test::ReadableModel model = test::readable_model(scratch, family);
    const std::string out = scratch.at(family + ".npz");
    Arguments read;
    if (!model.text.empty()) read = {"--text", model.text};
    if (!model.image.empty()) read = joined(read, {"--image", model.image});
    succeeds(joined(joined({"trace", "--model", model.folder}, read), {"-o", out}));
    return out;
}

}  // namespace

TEST_CASE("the trace of each family opens again with the same weights in every layer") {
    for (const ModelFamily& each : model_families()) {
        const std::string family(each.key);
        CAPTURE(family);
        if (each.read_out == ReadOut::sentence) continue;
        const Scratch scratch;
        const std::string out = trace_of(scratch, family);
        const Npz npz = read_npz(out).value();
        const auto file = must(files::read_tensors(out));
        REQUIRE(file.layers.size() == 2);
        constexpr std::string_view kDiffer[] = {"gemma2", "gemma3_text", "gpt_oss",   "gemma3",
                                                "olmo3",  "smollm3",     "qwen2_moe", "modernbert"};
        const bool differ = std::ranges::find(kDiffer, family) != std::end(kDiffer);
        CHECK(file.layer_specs.size() == (differ ? 2 : 0));
        for (std::size_t n = 0; n < 2; ++n) {
            CAPTURE(n);
            const Trace again =
                must(attend(file.layers[n], file.spec_of(n), *find_backend("staged")));
            const auto& weights = floats(npz, fmt::format("l{}.weights", file.numbers[n]));
            REQUIRE(again[Stage::weights].values().size() == weights.size());
            for (std::size_t i = 0; i < weights.size(); ++i)
                CHECK(again[Stage::weights].values()[i] ==
                      doctest::Approx(weights[i]).epsilon(1e-5));
        }
        CHECK(std::ranges::any_of(file.numbers, [&](Index layer) {
                  return npz.arrays.contains(fmt::format("l{}.routing", layer));
              }) == !each.names.router.empty());
    }
}

TEST_CASE("layers of linear attention are a group, whose weights open again with their values") {
    const Scratch scratch;
    const test::ReadableModel model = test::readable_model(scratch, "qwen3_next");
    const std::string out = scratch.at("out.npz");
    const Ran ran = succeeds(
        {"trace", "--model", model.folder, "--text", model.text, "--group", "linear", "-o", out});
    CHECK(contains(ran.out, "linear of full, linear (--group)"));
    const Npz npz = read_npz(out).value();
    const auto file = must(files::read_tensors(out));
    CHECK(file.numbers == std::vector<Index>{0, 2});
    REQUIRE(file.given.size() == 2);
    for (std::size_t n = 0; n < 2; ++n) {
        CHECK(file.given[n].stage == Stage::weights);
        const auto& weights = floats(npz, fmt::format("l{}.weights", 2 * n));
        CHECK(std::ranges::equal(file.given[n].values.values(), weights));
        const GivenTrace again =
            must(attend_from(Stage::weights, file.given[n].values, file.layers[n], file.spec));
        const auto& context = floats(npz, fmt::format("l{}.context", 2 * n));
        REQUIRE(again.trace[Stage::context].values().size() == context.size());
        for (std::size_t i = 0; i < context.size(); ++i)
            CHECK(again.trace[Stage::context].values()[i] ==
                  doctest::Approx(context[i]).epsilon(1e-4));
    }
    check_refused(
        {"trace", "--model", model.folder, "--text", model.text, "--off", "1.0", "-o", out},
        "interventions of Qwen3-Next are not computed: the output of its heads is gated "
        "before W_O");
    check_refused({"circuits", model.folder, "--text", model.text, "--layer", "1", "--head", "0"},
                  "is gated before W_O");
}

TEST_CASE("a trace of each attention of a model of two stacks opens again the same") {
    const std::string t5 = test::golden_model("t5").string();
    const auto clip = test::golden_model("clip");
    const std::string images =
        fmt::format("{} || {}", (clip / "image.png").string(), (clip / "tall.png").string());
    const Arguments of_t5{"--token-ids", "1,44,20,20,5,9,33,2", "--decoder", "7 30 30 12"};
    const Arguments of_clip{"--text", "1 44 || 43 7 33", "--image", images};
    for (const auto& [group, layers] : std::map<std::string, std::size_t>{{"encoder", 2},
                                                                          {"decoder", 3},
                                                                          {"cross", 3},
                                                                          {"text", 2},
                                                                          {"image", 3},
                                                                          {"match", 1}}) {
        CAPTURE(group);
        const bool towers = group == "text" || group == "image" || group == "match";
        const Scratch scratch;
        const std::string out = scratch.at("out.npz");
        const Ran ran = succeeds(joined(
            joined({"trace", "--model", towers ? clip.string() : t5}, towers ? of_clip : of_t5),
            {"--group", group, "-o", out}));
        const std::string_view all = towers ? "text, image, match" : "encoder, decoder, cross";
        CHECK(ran.out.find(fmt::format("{} of {} (--group)", group, all)) != std::string::npos);
        const Npz npz = read_npz(out).value();
        const auto file = must(files::read_tensors(out));
        REQUIRE(file.layers.size() == layers);
        for (std::size_t n = 0; n < layers; ++n) {
            const Trace again =
                must(attend(file.layers[n], file.spec_of(n), *find_backend("staged")));
            const auto& weights = floats(npz, fmt::format("l{}.weights", n));
            CHECK(std::ranges::equal(again[Stage::weights].values(), weights));
        }
        CHECK(npz.arrays.contains("l0.b_score") == (group == "encoder" || group == "decoder"));
        CHECK(npz.arrays.contains("tokens_kv") == (group == "cross" || group == "match"));
    }
    check_refused({"trace", "--model", t5, "--token-ids", "1", "--group", "match", "-o", "x.npz"},
                  "group is 'match'; expected one of encoder, decoder, cross");
}

TEST_CASE("what a model of two stacks is given says which attention is traced, and what was read") {
    const Scratch scratch;
    const std::string out = scratch.at("out.npz"), t5 = test::golden_model("t5").string();
    const auto clip = test::golden_model("clip");
    const std::string image = (clip / "image.png").string(), tall = (clip / "tall.png").string();
    const auto traced = [&](const std::string& model, const Arguments& options) {
        return succeeds(joined({"trace", "--model", model, "-o", out}, options));
    };
    const Ran both = traced(clip.string(), {"--text", "1 44", "--image", image + " || " + tall});
    CHECK(contains(both.out, "match of text, image, match (--group)"));
    CHECK(contains(both.out, "CLIP: 1 layer, 1 head, width 10; 2 tokens"));
    const Ran tower = traced(clip.string(), {"--image", image + " || " + tall});
    CHECK(contains(tower.out, "image of text, image, match (--group)"));
    CHECK(contains(tower.out, "  " + image + ": CLS and"));
    CHECK_FALSE(contains(tower.out, tall));
    CHECK(contains(traced(clip.string(), {"--text", "1 2 3||4 5 33"}).err,
                   "note: only the first of 2 texts is read; the group match compares them"));
    const Ran none = traced(clip.string(), {"--text", "1 44", "--group", "match"});
    CHECK(contains(none.err, "note: no image is given: every pixel is the mean"));
    const Ran written = traced(t5, {"--text", "1 44", "--decoder", "7 30"});
    CHECK(contains(written.out, "decoder of encoder, decoder, cross (--group)"));
    CHECK(contains(written.out, "T5: 3 layers, 3 heads, width 24; 3 tokens"));
    const Ran heads = succeeds({"heads", clip.string(), "--image", image});
    CHECK(std::ranges::count(heads.out, '\n') == 1 + 3 * 2);
    for (const Arguments& command :
         {Arguments{"trace", "--model", clip.string(), "--text", "1", "-o", out},
          Arguments{"heads", clip.string(), "--text", "1"}})
        check_refused(
            joined(command, {"--decoder", "7"}),
            "--decoder is '7'; " + clip.string() + " has no decoder that reads an encoder");
    check_refused({"trace", "--model", t5, "--text", "1 44", "--decoder", "7 30", "--patch",
                   "0.0.v=7", "-o", out},
                  "'7' has 2 tokens and the decoder's text 3");
    // another text for the encoder, as it is said to be the encoder's
    traced(t5, {"--text", "1 44 20", "--group", "encoder", "--patch", "0.0.v=1 5 9"});
    const Npz npz = read_npz(out).value();
    CHECK(std::ranges::max(floats(npz, "effect_change")) > 0.0F);
}

TEST_CASE("LLaVA is traced, measured and continued over a text with an image") {
    const Scratch scratch;
    const std::string out = scratch.at("out.npz"), model = test::golden_model("llava").string();
    const std::string image = model + "/image.png";
    const Arguments read{"--image", image, "--token-ids", "1,44,20,43,20,5,9,33,2"};
    const Ran ran = succeeds(joined(joined({"trace", "--model", model}, read), {"-o", out}));
    CHECK(contains(ran.out, "text of text, image (--group)"));
    CHECK(contains(ran.out, "#1 #44 #20 [9 image tokens] #20 #5 #9 #33 #2"));
    const Npz npz = read_npz(out).value();
    const auto expected = must(open_arrays(test::golden_model("llava") / "expected.safetensors"));
    const auto weights = must(expected->read("l1.weights"));
    const auto& theirs = std::get<std::vector<float>>(weights.values);
    const auto& ours = floats(npz, "l1.weights");
    REQUIRE(ours.size() == theirs.size());
    for (std::size_t i = 0; i < ours.size(); ++i)
        CHECK(ours[i] == doctest::Approx(theirs[i]).epsilon(1e-5));
    // the trace has the picture, and its tokens are known as patches of it
    const auto file = must(files::read_tensors(out));
    REQUIRE(file.image);
    CHECK(file.image->width == 12);
    CHECK(file.tokens[11] == "2,2");
    for (const Note& note : file.notes) CHECK_FALSE(contains(note.text, "image is not shown"));
    const Ran tower = succeeds(
        joined(joined({"trace", "--model", model}, read), {"--group", "image", "-o", out}));
    CHECK(contains(tower.out, "CLS and 3 × 3 patches of 4 × 4 pixels"));
    succeeds(joined(joined({"trace", "--model", model}, read), {"--off", "0.1", "-o", out}));
    CHECK(std::ranges::max(floats(read_npz(out).value(), "effect_change")) > 0.0F);
    // a patch from another text, with the same image
    succeeds(joined(joined({"trace", "--model", model}, read),
                    {"--patch", "0.0.v=1 44 21 43 20 5 9 33 2", "-o", out}));
    const Ran heads = succeeds(joined({"heads", model}, read));
    CHECK(std::ranges::count(heads.out, '\n') == 1 + 2 * 4);
    const Ran written =
        succeeds(joined(joined({"generate", model}, read), {"--tokens", "2", "--json"}));
    CHECK(contains(written.out, "\"token\": \"2,2\""));
    succeeds(joined(joined({"lens", model}, read), {"--at", "16"}));
    const Ran blank = succeeds({"generate", model, "--token-ids", "1,43,5", "--tokens", "1"});
    CHECK(contains(blank.err, "note: no image is given: every pixel is the mean"));
    CHECK_FALSE(contains(succeeds({"generate", model, "--token-ids", "1,5", "--tokens", "1"}).err,
                         "no image"));
    check_refused(joined({"circuits", model}, read),
                  "reads an image among the tokens of a text; expected a model that gives a next "
                  "token or a class");
    check_refused(
        {"trace", "--model", model, "--image", image + " || " + image, "--text", "1", "-o", out},
        "LLaVA reads one image; expected one file in place of 2");
    check_refused(
        {"generate", test::golden_model("llama").string(), "--text", "1", "--image", image},
        "--image and a text are given; expected one of the two");
}

TEST_CASE("T5 writes on after what its decoder has written") {
    const std::string t5 = test::golden_model("t5").string();
    const Ran ran =
        succeeds({"generate", t5, "--text", "1 44", "--decoder", "7 30", "--tokens", "2"});
    CHECK(ran.out.starts_with("7 30 "));
    for (const auto& [command, text] :
         {std::pair{"generate", "CLIP gives no next token"},
          std::pair{"lens", "CLIP gives no next token"},
          std::pair{"circuits", "expected a model that gives a next token or a class"}})
        check_refused({command, test::golden_model("clip").string(), "--text", "1 44"}, text);
    check_refused({"lens", t5, "--text", "1 44", "--decoder", "7"}, "--decoder");
}

TEST_CASE("a corpus is of the first group, and has no decoder") {
    const Scratch scratch;
    const std::string texts = scratch.at("lines.txt"), t5 = test::golden_model("t5").string();
    std::ofstream(texts) << "1 44\n";
    check_refused({"heads", t5, "--texts", texts, "--decoder", "7"},
                  "--decoder is given with --texts; leave one out");
    check_refused(
        {"heads", t5, "--texts", texts, "--group", "decoder"},
        "--group is given with --texts; the first group of each model is measured; leave it out");
}

TEST_CASE("--token-ids are numbers to every command, also where the model has a tokenizer") {
    const Scratch scratch;
    const std::string gguf = ATTN_TEST_DATA "/gguf/";
    const std::string without = gguf + "gpt2.gguf", with = gguf + "gpt2.tokens.gguf";
    const std::string out = scratch.at("out.npz"), other = scratch.at("other.npz");
    const Arguments ids{"--token-ids", "1,5,9"};
    const auto check_same = [&](const Arguments& before, const Arguments& after) {
        for (const auto& [model, to] : {std::pair{with, out}, {without, other}})
            succeeds(joined(joined(joined(before, {model}), ids), joined(after, {"-o", to})));
        const Npz one = read_npz(out).value(), two = read_npz(other).value();
        for (const auto& [name, array] : two.arrays)
            if (name != "tokens" && name != "options")
                CHECK_MESSAGE(one.arrays.at(name).values == array.values, name);
        return one;
    };
    const Npz traced = check_same({"trace", "--model"}, {});
    CHECK(floats(traced, "token_ids") == std::vector<float>{1, 5, 9});
    CHECK(std::get<std::vector<std::string>>(traced.arrays.at("tokens").values) ==
          std::vector<std::string>{"1", "5", "9"});
    const Npz generated = check_same({"generate"}, {"--tokens", "2", "--temperature", "0"});
    CHECK(floats(generated, "token_ids")[2] == 9.0F);
    CHECK(succeeds(joined({"heads", with}, joined(ids, {"-o", "-"}))).out ==
          succeeds(joined({"heads", without}, joined(ids, {"-o", "-"}))).out);
    // a text of the same letters is other tokens: "1", ",", "5", …
    succeeds({"trace", "--model", with, "--text", "1,5,9", "-o", out});
    CHECK(floats(read_npz(out).value(), "token_ids") == std::vector<float>{1, 10, 5, 10, 9});
    for (const char* command : {"lens", "circuits"}) {
        const auto read = [&](const Arguments& text) {
            auto json = nlohmann::json::parse(
                succeeds(joined({command, with}, joined(text, {"--json"}))).out);
            json.erase("ms");
            return json;
        };
        CHECK(read(ids) == read({"--text", "token-ids: 1 5 9"}));
        CHECK(read(ids) != read({"--text", "1,5,9"}));
    }
    // of a folder with a tokenizer
    const Scratch with_tokenizer;
    const std::string readable = test::gpt2_folder(with_tokenizer).string();
    succeeds({"trace", "--model", readable, "--token-ids", "1 5 9", "-o", out});
    CHECK(floats(read_npz(out).value(), "token_ids") == std::vector<float>{1, 5, 9});
    check_refused({"trace", "--model", readable, "--token-ids", "1,999", "-o", out},
                  "token 999 is not one of 50");
    check_refused({"lens", with, "--token-ids", "1,x"}, "--token-ids is '1,x'");
}

TEST_CASE("a model without a tokenizer reads the numbers of tokens") {
    const Scratch scratch;
    test::copy_model("gpt2", scratch / "gpt2");
    const std::string folder = (scratch / "gpt2").string(), out = scratch.at("out.npz");
    succeeds({"trace", "--model", folder, "--token-ids", "7,7,0,49,12,3,30", "-o", out});
    const Npz npz = read_npz(out).value();
    CHECK(floats(npz, "token_ids") == std::vector<float>{7, 7, 0, 49, 12, 3, 30});
    CHECK(std::get<std::vector<std::string>>(npz.arrays.at("tokens").values)[3] == "#49");
    succeeds({"heads", folder, "--token-ids", "7 7 0"});
    check_refused({"trace", "--model", folder, "--token-ids", "7,x", "-o", out},
                  "--token-ids is '7,x'; expected whole numbers from 0, such as 15496,995");
    check_refused({"trace", "--model", folder, "--token-ids", "7", "--text", "a", "-o", out},
                  "--token-ids and --text are given; expected one of the two");
    check_refused({"trace", "--model", folder, "--token-ids", "7,50", "-o", out},
                  "token 50 is not one of 50");
    // a tokenizer of another kind is no reason not to run the numbers
    std::ofstream(scratch / "gpt2" / "tokenizer.json") << R"({"model":{"type":"Char"}})";
    succeeds({"trace", "--model", folder, "--token-ids", "7,0", "-o", out});
    check_refused({"trace", "--model", folder, "--text", "7 0 a", "-o", out}, "Char");
}
