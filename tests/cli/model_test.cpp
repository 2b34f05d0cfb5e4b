// `trace --model`: what a model's folder computes for a text.
#include <cmath>
#include <fstream>

#include <nlohmann/json.hpp>

#include "app/cli/trace_parts.h"
#include "app/common/document/document.h"
#include "app/common/document/intervention_effects.h"
#include "app/common/inspector.h"
#include "app/files/axes.h"
#include "app/window/requests.h"
#include "core/io/arrays/array_file.h"
#include "core/io/file.h"
#include "core/narrow.h"
#include "tests/cli/start.h"
#include "tests/io/bytes.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;
namespace fs = std::filesystem;

using test::gpt2_folder, test::WithGpt2;

namespace {

/// The window's state once it has read what it starts with.
view::AppState started(cli::StartOptions& options) {
    REQUIRE(cli::resolve_start(options, {}));
    auto start = must(read_start(options));
    view::play(start.state, start.actions, start.open);
    return start.state;
}

/// The small GPT-2 with weights that bfloat16 holds, in that or in float32.
std::string bfloat16_folder(const Scratch& scratch, bool narrow) {
    const auto file = must(open_arrays(test::golden_model("gpt2") / "model.safetensors"));
    nlohmann::json header = nlohmann::json::object();
    std::string data;
    for (const std::string& name : file->names()) {
        const NpyArray array = must(file->read(name));
        const std::size_t begin = data.size();
        for (const float value : std::get<std::vector<float>>(array.values)) {
            const auto half =
                static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U);
            data += narrow ? little<std::uint16_t>({half}) : little<float>({from_bfloat16(half)});
        }
        header[name] = {{"dtype", narrow ? "BF16" : "F32"},
                        {"shape", array.extents},
                        {"data_offsets", {begin, data.size()}}};
    }
    const fs::path folder = gpt2_folder(scratch);
    const fs::path named = scratch / (narrow ? "narrow" : "wide");
    fs::rename(folder, named);
    write_bytes(named / "model.safetensors", safetensors(header.dump(), data));
    return named.string();
}

const std::string kVitFolder = ATTN_TEST_DATA "/models/vit";

struct Traced {
    Ran ran;
    Npz npz;
};
Traced traced_model(const std::string& folder, const Arguments& more,
                    const std::string& text = "abba c") {
    const Scratch scratch;
    const std::string target = scratch.at("out.npz");
    const Ran ran =
        succeeds(joined({"trace", "--model", folder, "--text", text, "-o", target}, more));
    return {ran, read_npz(target).value()};
}

using Texts = std::vector<std::string>;
Texts texts(const Npz& npz, const std::string& name) {
    REQUIRE(npz.arrays.contains(name));
    return std::get<Texts>(npz.arrays.at(name).values);
}

}  // namespace

TEST_CASE_FIXTURE(WithGpt2, "every layer of a text is saved, with its tokens and logits") {
    const std::string target = scratch.at("out.npz");
    const Ran ran = succeeds({"trace", "--model", folder, "--text", "abba c", "-o", target});
    CHECK(ran.err.empty());
    CHECK(contains(ran.out, "GPT-2: 2 layers, 3 heads, width 24; 5 tokens"));
    CHECK(contains(ran.out, "  ab b a ▁ c\n"));
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

TEST_CASE_FIXTURE(
    OnDisk, "a model in bfloat16 is saved as the same numbers in float32 are, byte for byte") {
    const std::string narrow = bfloat16_folder(scratch, true),
                      wide = bfloat16_folder(scratch, false);
    for (const Arguments& more : {Arguments{}, {"--off", "0.1"}, {"--backend", "reference"}}) {
        std::string bytes[2];
        for (const auto& [folder, to] : {std::pair{narrow, &bytes[0]}, {wide, &bytes[1]}}) {
            const std::string file = scratch.at("out.npz");
            succeeds(joined({"trace", "--model", folder, "--text", "abba c", "-o", file}, more));
            *to = must(read_text_file(file));
        }
        CHECK((bytes[0] == bytes[1]));
        const Npz out = must(parse_npz(bytes[0], "out"));
        CHECK(extents(out, "l1.W_O") == std::vector<Index>{24, 24});
        CHECK(extents(out, "l1.output") == std::vector<Index>{1, 5, 24});
    }
}

TEST_CASE("W_O of 16 bits stays in 16 bits until it is written") {
    Inputs inputs;
    inputs.params[Param::w_o] =
        Tensor::narrow({1, 1, 2, 1}, {0x3F80, 0x4000}, HalfFormat::bfloat16);
    inputs.params[Param::b_o] = Tensor({1, 1, 1, 1}, 3.0F);
    StageSet held;
    for (const Stage stage : {Stage::v, Stage::output}) held.set(index_of(stage));
    std::vector<NpzEntry> entries;
    cli::add_params(inputs, held, "l0.", entries);
    REQUIRE(entries.size() == 2);
    const NpzEntry& w_o = entries[0].name == "l0.W_O" ? entries[0] : entries[1];
    CHECK(w_o.values.empty());
    CHECK(w_o.halves.size() == 2);
    CHECK(floats(must(parse_npz(must(npz_bytes(entries, "it")), "it")), "l0.W_O") ==
          std::vector<float>{1.0F, 2.0F});
}

TEST_CASE_FIXTURE(WithGpt2, "--keep leaves the other stages out, and the output opens as tensors") {
    const std::string target = scratch.at("out.npz");
    REQUIRE(command({"trace", "--model", folder, "--text", "ab", "-o", target, "--keep", "q,k,v"})
                .code == cli::kSuccess);
    CHECK_FALSE(read_npz(target).value().arrays.contains("l0.weights"));
    const std::string again = scratch.at("again.npz");
    succeeds({"trace", target, "--layer", "1", "--causal", "-o", again});
    CHECK(extents(read_npz(again).value(), "weights") == std::vector<Index>{1, 3, 1, 1});
}

TEST_CASE_FIXTURE(
    WithGpt2, "a model without a read-out predicts nothing, and says so beside interventions too") {
    std::ofstream(folder + "/config.json")
        << R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"n_head":3,"vocab_size":50,
        "tie_word_embeddings":false})";
    const Ran ran = succeeds({"trace", "--model", folder, "--text", "abba c", "-o",
                              scratch.at("out.npz"), "--off", "0.1"});
    CHECK(contains(ran.out + ran.err, "it predicts no tokens: there is no 'lm_head.weight'"));
    CHECK(contains(ran.out, "the model has no output to compare"));
    CHECK_FALSE(contains(ran.out, "next token"));
    CHECK_FALSE(read_npz(scratch.at("out.npz")).value().arrays.contains("logits"));
}

TEST_CASE_FIXTURE(WithGpt2, "what does not go with --model is refused by its name") {
    const auto refused = [&](const Arguments& more, const std::string& text) {
        check_refused(joined({"trace"}, more), text);
    };
    refused({"--model", folder, "-o", "o.npz"},
            "--model has no --text; expected the text it reads");
    refused({"--text", "a", "-o", "o.npz"}, "--text is given without --model; expected a model");
    refused({"--model", folder, "--text", "a"}, "expected an output file: -o OUT.npz");
    refused({"--model", folder, "--text", "", "-o", "o.npz"}, "the text has no token");
    refused({"in.npz", "--model", folder, "--text", "a", "-o", "o.npz"},
            "'in.npz' is given with --model; expected one of them");
    refused({"--model", folder, "--text", "a", "-o", "o.npz", "--causal"},
            "--causal does not apply to --model: config.json decides it");
    refused({"--model", folder, "--text", "a", "-o", "o.npz", "--grad"},
            "--grad does not apply to --model");
    refused({"--model", folder, "--text", "a", "-o", "o.txt"}, "o.txt");
    refused({"--model", "/nowhere", "--text", "a", "-o", "o.npz"}, "/nowhere/config.json");
    refused({"--model", folder, "--text", std::string(40, 'c'), "-o", "o.npz"},
            "the text has 40 tokens; this model takes 16");
}

TEST_CASE_FIXTURE(
    OnDisk, "every layer of a ViT over an image is saved, and the likeliest classes are named") {
    const std::string target = scratch.at("out.npz");
    const Ran ran = succeeds(
        {"trace", "--model", kVitFolder, "--image", kVitFolder + "/image.png", "-o", target});
    CHECK(ran.err.empty());
    CHECK(contains(ran.out, "ViT: 2 layers, 3 heads, width 24; 10 tokens"));
    CHECK(contains(ran.out, "image.png: CLS and 3 × 3 patches of 4 × 4 pixels\n"));
    CHECK(contains(ran.out, "  class: violin 69.9 %; cat 21.7 %; dog 4.3 %; "));
    const Npz out = read_npz(target).value();
    CHECK(std::get<std::vector<std::string>>(out.arrays.at("tokens").values) ==
          std::vector<std::string>{"CLS", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2", "2,0", "2,1",
                                   "2,2"});
    CHECK_FALSE(out.arrays.contains("token_ids"));
    using Axes = std::vector<Index>;
    for (const char* at : {"l0.", "l1."}) {
        const std::string layer(at);
        CHECK(extents(out, layer + "x") == Axes{1, 10, 24});
        CHECK(extents(out, layer + "weights") == Axes{1, 3, 10, 10});
        double sum = 0.0;
        for (std::size_t j = 0; j < 10; ++j) sum += floats(out, layer + "weights")[j];
        CHECK(sum == doctest::Approx(1.0));
    }
    CHECK(extents(out, "logits") == Axes{1, 5});
    CHECK(floats(out, "logits")[4] == doctest::Approx(2.04553).epsilon(1e-5));
    const Ran off = succeeds({"trace", "--model", kVitFolder, "--image", kVitFolder + "/image.png",
                              "-o", target, "--off", "0.1"});
    CHECK(contains(off.out, "  class: violin 69.9 % -> "));
}

TEST_CASE_FIXTURE(OnDisk,
                  "an image is for a model that reads images, a text for one that reads texts") {
    const std::string gpt2 = gpt2_folder(scratch).string();
    const std::string image = kVitFolder + "/image.png";
    const auto refused = [&](const Arguments& more, const std::string& text) {
        check_refused(joined({"trace", "-o", scratch.at("o.npz")}, more), text);
    };
    refused(
        {"--model", kVitFolder, "--text", "a cat"},
        "--text is 'a cat'; " + kVitFolder + " (ViT) reads an image: expected --image FILE.png");
    refused({"--model", gpt2, "--image", image},
            gpt2 + " (GPT-2) reads a text: expected --text TEXT");
    refused({"--model", kVitFolder, "--image", image, "--text", "a"},
            "--text and --image '" + image + "' are given; expected one of the two");
    refused({"--model", kVitFolder},
            "--model has no --text; expected the text it reads, --image FILE.png");
    refused({"--image", image}, "--image is given without --model; expected a model's folder");
    refused({"--model", kVitFolder, "--image", "/nowhere/a.png"}, "/nowhere/a.png");
    refused({"--model", kVitFolder, "--image", kVitFolder + "/config.json"},
            "/config.json is not a PNG image: it does not begin with a PNG's eight bytes");
    check_refused({"heads", kVitFolder, "--text", "a"}, "ViT reads an image, and 'a' is a text");
    check_refused({"heads", kVitFolder, "--text", "a", "--image", image},
                  "--text 'a' and --image '" + image + "'; expected one of the two");
    const Ran ran = succeeds({"heads", kVitFolder, "--image", image});
    CHECK(contains(ran.out, "entropy"));
}

TEST_CASE_FIXTURE(OnDisk, "--text opens the window or render over what a model reads") {
    cli::StartOptions options;
    options.files = {gpt2_folder(scratch).string()};
    options.text = "ab ac";
    const view::AppState state = started(options);
    CHECK(view::text_of(state.document()) == "ab ac");
    CHECK(state.document().tokens == std::vector<std::string>{"ab", "▁", "a", "c"});
    CHECK(state.sentence_draft == "ab ac");
    options.text = std::string(40, 'c');
    CHECK(read_start(options).error().text() == "the text has 40 tokens; this model takes 16");
}

TEST_CASE("--text with what is no model is refused by its name") {
    const std::string expected =
        "--text is for a trained model, a folder whose config.json has a model_type, or a .gguf; ";
    check_refused({"render", golden("qkv.npz"), "--text", "a", "-o", "x.png"},
                  expected + "'" + golden("qkv.npz") + "' is none");
    check_refused({"render", "--text", "a", "-o", "x.png"}, expected + "no file is given");
    check_refused({"render", "/nowhere", "--text", "a", "-o", "x.png"}, "'/nowhere' is none");
}

TEST_CASE_FIXTURE(
    WithGpt2,
    "--off takes a head's part out: what it changed is saved and printed, and what was off") {
    const Npz on = traced_model(folder, {}).npz;
    CHECK_FALSE(on.arrays.contains("interventions"));
    const auto [ran, off] = traced_model(folder, {"--off", "0.1,0.2"});
    CHECK(texts(off, "interventions") == Texts{"--off 0.1", "--off 0.2"});
    CHECK(floats(off, "l0.weights") == floats(on, "l0.weights"));
    CHECK(floats(off, "l0.output") != floats(on, "l0.output"));
    CHECK(floats(off, "l1.weights") != floats(on, "l1.weights"));
    CHECK(floats(off, "logits") != floats(on, "logits"));
    CHECK(extents(off, "effect_kl") == std::vector<Index>{2, 3});
    const auto& kl = floats(off, "effect_kl");
    const auto& change = floats(off, "effect_change");
    const auto& before = floats(on, "l1.weights");
    const auto& after = floats(off, "l1.weights");
    for (std::size_t head = 0; head < 3; ++head) {
        CHECK(kl[head] == 0.0F);
        CHECK(change[head] == 0.0F);
        double sum = 0.0, most = 0.0;
        for (std::size_t n = 25 * head; n < 25 * head + 25; ++n) {
            if (before[n] > 0.0F) sum += before[n] * std::log(double{before[n]} / after[n]);
            most = std::max(most, std::abs(double{after[n]} - before[n]));
        }
        CHECK(kl[3 + head] == doctest::Approx(sum / 5.0).epsilon(1e-5));
        CHECK(kl[3 + head] > 0.0F);
        CHECK(change[3 + head] == doctest::Approx(most));
    }
    CHECK(contains(ran.out, "interventions: --off 0.1 --off 0.2\n"));
    CHECK(contains(ran.out, "next token: "));
    CHECK(contains(ran.out, "nats"));
    for (const char* line : {"\n      1     0 ", "\n      1     1 ", "\n      1     2 "})
        CHECK(contains(ran.out, line));
    CHECK_FALSE(contains(ran.out, "\n      0     0 "));
    CHECK(contains(traced_model(folder, {"--off", "1.0"}).ran.out, "no head comes later"));
}

TEST_CASE_FIXTURE(WithGpt2,
                  "--row replaces a row of weights, --patch takes vectors from another text") {
    const auto [ran, row] = traced_model(folder, {"--row", "0.1.3=0.5,0,0.25,0.25,0"});
    CHECK(texts(row, "interventions") == Texts{"--row 0.1.3=0.5,0,0.25,0.25,0"});
    const auto& weights = floats(row, "l0.weights");
    const std::size_t first = 25 + 15;
    CHECK(std::vector<float>(weights.begin() + first, weights.begin() + first + 5) ==
          std::vector<float>{0.5F, 0.0F, 0.25F, 0.25F, 0.0F});
    CHECK(contains(ran.out, "\n      0     1 "));  // its own row, and every later head
    CHECK(contains(ran.out, "\n      1     2 "));
    CHECK_FALSE(contains(ran.out, "\n      0     2 "));

    const Npz own = traced_model(folder, {}).npz;
    const Npz source = traced_model(folder, {}, "ba cc").npz;
    REQUIRE(floats(source, "token_ids").size() == 5);
    const Npz patched =
        traced_model(folder, {"--patch", "1.2.v=ba cc", "--patch", "1.2.q=ba cc"}).npz;
    CHECK(texts(patched, "interventions") == Texts{"--patch 1.2.v=ba cc", "--patch 1.2.q=ba cc"});
    const auto part = [](const Npz& npz, const char* name, std::size_t head) {
        const auto& all = floats(npz, name);
        return std::vector<float>(all.begin() + static_cast<std::ptrdiff_t>(40 * head),
                                  all.begin() + static_cast<std::ptrdiff_t>(40 * head + 40));
    };
    for (const char* name : {"l1.q", "l1.v"}) {
        CHECK(part(patched, name, 2) == part(source, name, 2));
        CHECK(part(patched, name, 1) == part(own, name, 1));
        CHECK(part(source, name, 2) != part(own, name, 2));
    }
    CHECK(part(patched, "l1.k", 2) == part(own, "l1.k", 2));
    CHECK(floats(patched, "logits") != floats(own, "logits"));
}

TEST_CASE_FIXTURE(WithGpt2, "interventions that cannot be are refused by what was typed") {
    const Arguments model{"trace", "--model", folder, "--text", "abba c", "-o", "o.npz"};
    const auto refused = [&](const Arguments& more, const std::string& text) {
        check_refused(joined(model, more), text);
    };
    refused({"--off", "9.0"}, "there is no layer 9: the model has 2, counted from 0");
    refused({"--off", "0.3"}, "layer 0 has no head 3: it has 3, counted from 0");
    refused({"--off", "0"}, "--off is '0'; expected LAYER.HEAD");
    refused({"--off", "0.1,"}, "--off is '0.1,'; expected LAYER.HEAD");
    refused({"--off", "0.-1"}, "--off is '0.-1'");
    refused({"--row", "0.1=1"}, "--row is '0.1=1'; expected LAYER.HEAD.QUERY=WEIGHT");
    refused({"--row", "0.1.3=0.5,x"}, "--row is '0.1.3=0.5,x'");
    refused({"--row", "0.1.3=1"}, "is 1 long; expected 5, a weight for each token");
    refused({"--row", "0.1.3=0.5,0.25,0,0,0"}, "sums to 0.75; expected 1");
    refused({"--row", "0.1.3=0,0,0,0,1"}, "which the mask forbids");
    refused({"--patch", "0.1.w=a"}, "--patch is '0.1.w=a'; expected LAYER.HEAD.q|k|v=TEXT");
    refused({"--patch", "0.1.v=a"},
            "--patch: 'a' has 1 token and the model's text 5; expected the same number");
    refused({"--patch", "0.5.v=ba cc"}, "layer 0 has no");
    check_refused({"trace", "in.npz", "-o", "o.npz", "--off", "0.1"},
                  "--off is given without --model; expected a model's folder");
    check_refused({"render", "--off", "0.1", "-o", "x.png"},
                  "--off is for a trained model, a folder whose config.json has a model_type, or a "
                  ".gguf; no file is given");
}

TEST_CASE_FIXTURE(OnDisk,
                  "--off of the window and of render opens over a run without these heads") {
    cli::StartOptions options;
    options.files = {gpt2_folder(scratch).string()};
    options.text = "ab ac";
    options.off = "0.2,0.0,0.2";
    const view::AppState state = started(options);
    CHECK(view::model_of(state.document())->changes.off == std::vector<HeadPlace>{{0, 0}, {0, 2}});
    REQUIRE(state.document().effects);
    CHECK(std::ranges::count_if(state.document().effects->run.heads, &HeadEffect::changed) == 3);
    CHECK(contains(state.message.text, "Without L0 H0 and L0 H2 the next token "));
}

TEST_CASE_FIXTURE(WithGpt2,
                  "a model whose config.json cannot be read is refused with the reason, not as a "
                  "folder of arrays") {
    std::ofstream(fs::path(folder) / "config.json") << "{\"model_type\": ";
    for (const std::string command : {"heads", "render"}) {
        std::vector<std::string> arguments{command, folder, "--text", "ab"};
        if (command == "render") arguments.insert(arguments.end(), {"-o", "x.png"});
        check_refused(arguments, "config.json");
        arguments.erase(arguments.begin() + 2, arguments.begin() + 4);
        check_refused(arguments, "config.json");
    }
}
