// What is made of a model's last numbers: probabilities of the next token, similarity of two texts.
#include "core/models/read_out.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>

#include <nlohmann/json.hpp>

#include "core/backend.h"
#include "core/dimensions.h"
#include "core/io/json.h"
#include "core/io/npy.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("probabilities are the softmax of the logits and sum to 1") {
    const std::vector<float> logits{0.0F, std::log(2.0F), std::log(4.0F), -kInfinity};
    const std::vector<double> shares = probabilities(logits);
    REQUIRE(shares.size() == 4);
    CHECK(shares[0] == doctest::Approx(1.0 / 7).epsilon(1e-7));
    CHECK(shares[1] == doctest::Approx(2.0 / 7).epsilon(1e-7));
    CHECK(shares[2] == doctest::Approx(4.0 / 7).epsilon(1e-7));
    CHECK(shares[3] == 0.0);
    std::vector<float> many(50000);
    for (std::size_t n = 0; n < many.size(); ++n)
        many[n] = 1e4F + std::sin(static_cast<float>(n)) * 9.0F;
    const std::vector<double> all = probabilities(many);
    CHECK(std::reduce(all.begin(), all.end()) == doctest::Approx(1.0).epsilon(1e-12));
}

TEST_CASE("the likeliest come first, of equal ones the lower id") {
    const std::vector<float> logits{1.0F, 3.0F, 2.0F, 3.0F};
    const auto best = likeliest(logits, 3);
    REQUIRE(best.size() == 3);
    CHECK(best[0].id == 1);
    CHECK(best[1].id == 3);
    CHECK(best[2].id == 2);
    CHECK(best[0].probability == best[1].probability);
    CHECK(best[0].probability / best[2].probability == doctest::Approx(std::exp(1.0)));
    CHECK(likeliest(logits, 9).size() == 4);
}

TEST_CASE("nothing is said of logits that are no numbers") {
    CHECK(likeliest(std::vector<float>{1.0F, std::nanf("")}, 5).empty());
    CHECK(likeliest(std::vector<float>{1.0F, kInfinity}, 5).empty());
    CHECK(likeliest(std::vector<float>{-kInfinity}, 5).empty());
    CHECK(likeliest({}, 5).empty());
}

TEST_CASE("the cosine of two vectors") {
    using Vector = std::vector<float>;
    CHECK(*cosine(Vector{3, 4}, Vector{4, 3}) == doctest::Approx(0.96).epsilon(1e-12));
    CHECK(*cosine(Vector{1, 0}, Vector{-2, 0}) == -1.0);
    CHECK_FALSE(cosine(Vector{1, 0}, Vector{0, 0}));
    CHECK_FALSE(cosine(Vector{1, std::nanf("")}, Vector{1, 1}));
}

TEST_CASE("a folder without a read-out, or of another task, predicts no tokens and says so") {
    const Scratch scratch;
    int n = 0;
    const auto opened = [&](const std::string& family, const std::string& more) {
        const auto folder = scratch / std::to_string(n++);
        test::copy_model(family, folder);
        std::ifstream file(folder / "config.json");
        auto config = nlohmann::json::parse(file);
        config.update(nlohmann::json::parse(more));
        std::ofstream(folder / "config.json") << config;
        return Model::open(folder);
    };
    const auto stated = [&](const std::string& family, const std::string& more) {
        const Model model = must(opened(family, more));
        std::string notes;
        for (const std::string& note : model.notes()) notes += note;
        const auto run = must(model.run({{1, ""}, {2, ""}, {3, ""}}, *find_backend("staged")));
        CHECK(run.read_out.empty() == !model.gives_logits());
        return notes;
    };
    CHECK(stated("gpt2", "{}").empty());
    CHECK(
        stated("gpt2", R"({"tie_word_embeddings": false})") ==
        "it predicts no tokens: there is no 'lm_head.weight', and 'tie_word_embeddings' is false");
    CHECK(stated("llama", R"({"architectures": ["LlamaForSequenceClassification"]})") ==
          "it predicts no tokens: config.json says LlamaForSequenceClassification");
    CHECK(stated("llama", R"({"architectures": ["LlamaForCausalLM"]})").empty());
    const auto refused = [&](const std::string& family, const std::string& more,
                             const std::string& why) {
        CHECK(sentence_in(opened(family, more)).ends_with(why));
    };
    refused("llama", R"({"attention_bias": true})",
            "has no array 'model.layers.0.self_attn.q_proj.bias', which this model needs");
    refused("llama", R"({"mlp_bias": true})", "mlp.up_proj.bias', which this model needs");
    refused("gpt2", R"({"vocab_size": 49})", "is [50, 24]; expected [49, 24]");
}

TEST_CASE(
    "a read-out of the file that differs from the embedding counts, whatever ties them, and a note "
    "says so") {
    const auto variants = std::filesystem::path(ATTN_TEST_DATA) / "variants";
    const Scratch scratch;
    int n = 0;
    const auto opened = [&](const char* file, bool tied) {
        const auto folder = scratch / std::to_string(n++);
        std::filesystem::create_directory(folder);
        std::filesystem::copy_file(variants / file, folder / "model.safetensors");
        const auto rows = must(read_json_file(variants / "variants.json"));
        auto config = rows.at("rows")[0].at("config");
        config["tie_word_embeddings"] = tied;
        std::ofstream(folder / "config.json") << config;
        return must(Model::open(folder));
    };
    const auto logits = [](const Model& model) {
        const auto run = must(model.run({{1, ""}, {2, ""}, {3, ""}}, *find_backend("staged")));
        return std::vector<float>(run.read_out.values().begin(), run.read_out.values().end());
    };
    const Model other = opened("llama.safetensors", true),
                copy = opened("llama_copied.safetensors", true),
                none = opened("llama_tied.safetensors", true),
                untied = opened("llama.safetensors", false);
    const auto tells = [](const Model& model) {
        return std::ranges::count(
            model.notes(),
            "the file's read-out differs from the embedding and is used, although the "
            "configuration ties them ('tie_word_embeddings'): transformers 5 does the same, "
            "transformers 4 uses the embedding");
    };
    CHECK(tells(other) == 1);
    for (const Model* model : {&copy, &none, &untied}) CHECK(tells(*model) == 0);
    CHECK(copy.weights().read_out.weight.empty());
    CHECK(logits(other) == logits(untied));
    CHECK(logits(copy) == logits(none));
    CHECK(logits(other) != logits(none));
}

TEST_CASE("weights that are integers are refused: their bits or codes are no numbers") {
    for (const char* type : {"I16", "U16", "U8"}) {
        const Scratch scratch;
        test::copy_model("gpt2", scratch / "m");
        const auto path = scratch / "m/model.safetensors";
        std::ifstream file(path, std::ios::binary);
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        file.close();
        std::uint64_t length = 0;
        std::memcpy(&length, bytes.data(), sizeof length);
        auto header = nlohmann::ordered_json::parse(bytes.substr(8, length));
        auto& array = header["transformer.h.0.ln_1.weight"];
        const std::size_t size = type == std::string("U8") ? 1 : 2;
        const auto begin = array["data_offsets"][0].get<std::size_t>();
        // the first of its bytes; the others become another array's
        header["rest"] = {{"dtype", "U8"},
                          {"shape", {24 * 4 - 24 * size}},
                          {"data_offsets", {begin + 24 * size, begin + 24 * 4}}};
        array["dtype"] = type;
        array["data_offsets"] = {begin, begin + 24 * size};
        std::string text = header.dump();
        text.append((8 - text.size() % 8) % 8, ' ');
        const std::uint64_t longer = text.size();
        std::ofstream out(path, std::ios::binary);
        out.write(reinterpret_cast<const char*>(&longer), sizeof longer);
        out << text << bytes.substr(8 + length);
        out.close();
        const std::string sentence = sentence_in(Model::open(scratch / "m"));
        CAPTURE(sentence);
        CHECK(
            sentence.find(type == std::string("U8") ? "is uint8; expected float32"
                          : type == std::string("U16")
                              ? "array 'transformer.h.0.ln_1.weight' is uint16; expected float32"
                              : "array 'transformer.h.0.ln_1.weight' is int16; expected float32") !=
            std::string::npos);
    }
}

TEST_CASE("a model with NaN among its weights is refused by the array") {
    const Scratch scratch;
    test::copy_model("gpt2", scratch / "m");
    const auto path = scratch / "m/model.safetensors";
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), {}};
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const auto header = nlohmann::json::parse(bytes.substr(8, length));
    const auto& array = header["transformer.h.0.ln_1.weight"];
    const std::size_t at = 8 + length + array["data_offsets"][0].get<std::size_t>();
    const float nan = std::nanf("");
    std::memcpy(bytes.data() + at, &nan, sizeof nan);
    std::memcpy(bytes.data() + at + 8, &nan, sizeof nan);
    file.close();
    std::ofstream(path, std::ios::binary) << bytes;
    CHECK(sentence_in(Model::open(scratch / "m")) ==
          path.string() + ": array 'transformer.h.0.ln_1.weight' has 2 NaN; expected only numbers");
}

TEST_CASE("a folder with an adapter is refused by the file") {
    const Scratch scratch;
    test::copy_model("gpt2", scratch / "m");
    std::ofstream(scratch / "m/adapter_model.safetensors") << "";
    const std::string folder = scratch.at("m");
    CHECK(sentence_in(Model::open(folder)) ==
          folder +
              "/adapter_model.safetensors is of a LoRA adapter, which adds to the weights of a "
              "model; expected a whole model, which Python saves: import peft, transformers as t; "
              "peft.AutoPeftModelForCausalLM.from_pretrained(\"" +
              folder + "\").merge_and_unload().save_pretrained(\"" + folder +
              "-merged\"); t.AutoTokenizer.from_pretrained(\"" + folder + "\").save_pretrained(\"" +
              folder + "-merged\")");
}
