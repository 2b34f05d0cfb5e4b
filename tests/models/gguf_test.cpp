// Models and tokenizers of GGUF, of SentencePiece and of bitsandbytes against the same ones as Hugging Face writes them:
// goldens/gguf by make_gguf.py, goldens/tokenizers by make_sentencepiece.py.
#include "core/models/gguf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <fstream>

#include <fmt/format.h>

#include "core/backend.h"
#include "core/io/file.h"
#include "core/io/json.h"
#include "core/models/model.h"
#include "core/models/weights.h"
#include "core/narrow.h"
#include "tests/io/bytes.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

using namespace attn;
using nlohmann::json;

namespace {

std::filesystem::path golden(const std::string& name) {
    return std::filesystem::path(ATTN_TEST_DATA) / "gguf" / name;
}

/// The golden folder, in whose config.json is also what `change` makes of it.
template <class Change>
Model folder_with(const Scratch& scratch, const std::string& name, Change change) {
    const auto folder = scratch / name;
    test::copy_model(name, folder);
    json config = must(read_json_file(folder / "config.json"));
    change(config);
    std::ofstream(folder / "config.json") << config;
    return must(Model::open(folder));
}

ModelRun run_of(const Model& model) {
    return must(model.run({{3, ""}, {1, ""}, {4, ""}, {1, ""}, {5, ""}}, *find_backend("staged")));
}

/// Of the largest of b.
double difference(const Tensor& a, const Tensor& b) {
    REQUIRE(a.shape() == b.shape());
    double most = 0.0, largest = 0.0;
    for (std::size_t n = 0; n < a.values().size(); ++n) {
        const double x = a.values()[n], y = b.values()[n];
        most = std::max(most, std::abs(x - y));
        largest = std::max(largest, std::abs(y));
    }
    return largest > 0.0 ? most / largest : most;
}

/// Every layer's stages and residual, and the logits; `most` 0: to the last bit.
void check_equal(const Model& a, const Model& b, double most = 0.0) {
    const ModelRun run = run_of(a), wanted = run_of(b);
    REQUIRE(run.layers.size() == wanted.layers.size());
    for (std::size_t n = 0; n < run.layers.size(); ++n) {
        CAPTURE(n);
        const ModelLayer &one = run.layers[n], &other = wanted.layers[n];
        CHECK(difference(one.residual, other.residual) <= most);
        for (const Stage stage : {Stage::v, Stage::weights, Stage::output})
            CHECK(difference(one.trace[stage], other.trace[stage]) <= most);
        if (most == 0.0) CHECK(one.trace[Stage::scores] == other.trace[Stage::scores]);
    }
    REQUIRE_FALSE(run.read_out.empty());
    CHECK(difference(run.read_out, wanted.read_out) <= most);
}

/// Gemma's scale of scores is not in a GGUF file: that of a head's columns.
void set_query_scalar(json& config) {
    if (config.contains("query_pre_attn_scalar"))
        config["query_pre_attn_scalar"] = config["head_dim"];
}

/// GGUF has no windows of Qwen and divides the weights of Qwen 3's experts; each layer has experts, which the golden model's
/// second layer has not.
void as_in_gguf(json& config) {
    if (config["model_type"] == "mixtral") return;
    config["norm_topk_prob"] = config["model_type"] == "qwen3_moe";
    config["use_sliding_window"] = false;
    config.erase("layer_types");
    config["sliding_window"] = nullptr;
    config["mlp_only_layers"] = json::array();
    if (config["model_type"] == "qwen3_moe") config["num_hidden_layers"] = 1;
}

/// Of the golden file with other keys; null: without the key.
Result<ModelConfig> config_with(const std::string& name, const json& values,
                                std::vector<std::string>& notes) {
    GgufArrays file = must(open_gguf(golden(name)));
    for (const auto& each : values.items()) {
        if (each.value().is_null())
            file.header.values.erase(each.key());
        else
            file.header.values[each.key()] = each.value();
    }
    return config_of_gguf(file, "m.gguf", notes);
}
ModelConfig llama_with(const json& values) {
    std::vector<std::string> notes;
    return must(config_with("llama.gguf", values, notes));
}

std::string refused(const std::string& name, const json& values) {
    std::vector<std::string> notes;
    const auto config = config_with(name, values, notes);
    return config ? fmt::format("{}", notes.empty() ? "" : notes.front()) : config.error().text();
}

json tokenizer_values(const std::string& name) {
    return must(open_gguf(golden("tokenizer." + name + ".gguf"))).header.values;
}

std::filesystem::path tokenizer_file(const std::string& name) {
    return std::filesystem::path(ATTN_TEST_DATA) / "tokenizers" / name;
}

std::vector<Index> ids_of(const Tokenizer& tokenizer, const std::string& line) {
    std::vector<Index> ids;
    for (const ModelToken& token : tokenizer.encode(line)) ids.push_back(token.id);
    return ids;
}

/// Left out are lines with the name of a special token, which SentencePiece takes for text, with a piece of the user at their
/// beginning, before which SentencePiece puts a space, and of many equal sums of scores, which it adds up in float32.
void check_lines(const Tokenizer& tokenizer, const std::string& name) {
    const json expected = must(read_json_file(tokenizer_file(name + ".ids.json")));
    json all = must(read_json_file(tokenizer_file("lines.json")));
    const bool more = expected.is_object();
    for (const json& line : more ? expected.at("more") : json::array()) all.push_back(line);
    const json& ids = more ? expected.at("ids") : expected;
    REQUIRE(ids.size() == all.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
        const auto line = all[n].get<std::string>();
        INFO("n ", n, ", line ", line);
        const bool sums = name.ends_with("unigram") && line.size() > 100;
        if (line.find("<unk>") == std::string::npos && line != "<x>" && !sums)
            CHECK(ids_of(tokenizer, line) == ids[n].get<std::vector<Index>>());
    }
}

const TokenizerSettings kPlain{
    .json = R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":false})", .where = "t.json"};

}  // namespace

TEST_CASE("a model of GGUF equals the same folder in every layer, to the last bit") {
    for (const std::string name : {"llama", "qwen2", "qwen3", "gpt2", "gemma2", "gemma3_text",
                                   "phi3", "phi3~longrope", "olmo2", "granite"}) {
        CAPTURE(name);
        const Scratch scratch;
        const auto model = must(Model::open(golden(name + ".gguf")));
        const auto folder = folder_with(scratch, name, set_query_scalar);
        CHECK(model.notes() == folder.notes());
        CHECK(model.config().most_tokens == folder.config().most_tokens);
        // LongRoPE's factor of scores is a float32 in GGUF.
        check_equal(model, folder, name == "phi3~longrope" ? 1e-6 : 0.0);
    }
}

TEST_CASE("16-bit floats of GGUF stay as they are, and give what they give in float32") {
    for (const auto& [name, most] : {std::pair{"llama.f16", 2e-2}, {"llama.bf16", 0.15}}) {
        CAPTURE(name);
        const auto model = must(Model::open(golden(fmt::format("{}.gguf", name))));
        const auto whole = must(Model::open(golden("llama.gguf")));
        const WeightMatrix& table = model.weights().embedding;
        CHECK(table.bytes() == 2 * table.shape().count());
        check_equal(model, whole, most);
        // A matrix whose rows were put in order again is the whole one, rounded.
        const Tensor& rounded = model.weights().blocks[0].attention[Param::w_q];
        const Tensor& exact = whole.weights().blocks[0].attention[Param::w_q];
        CHECK(difference(rounded, exact) < 1.0 / 128);
        CHECK(difference(rounded, exact) > 0.0);
    }
}

TEST_CASE("blocks of codes give what their numbers in float32 give, and a note says so") {
    const auto model = must(Model::open(golden("blocks.gguf")));
    CHECK(model.notes() == std::vector<std::string>{"weights stay quantised in memory: 1 array "
                                                    "of Q4_K, 1 array of Q6_K, 14 arrays of Q8_0"});
    check_equal(model, must(Model::open(golden("blocks"))));
    const BlockWeights& block = model.weights().blocks[0];
    CHECK(block.mlp.down.weight.bytes() == 32 * 144);
    CHECK(block.mlp.up.weight.bytes() == 256 * 34);
    for (const Param param : {Param::w_q, Param::w_k, Param::w_v, Param::w_o}) {
        const Narrow* const narrow = block.attention[param].narrow();
        REQUIRE(narrow != nullptr);
        CHECK(narrow->blocks() != nullptr);
    }
}

TEST_CASE("experts of GGUF, which are one array, are those of the folder, to the last bit") {
    for (const std::string name : {"mixtral", "qwen2_moe", "qwen3_moe"}) {
        CAPTURE(name);
        const Scratch scratch;
        const auto model = must(Model::open(golden(name + ".gguf")));
        CHECK(model.weights().unused.empty());
        check_equal(model, folder_with(scratch, name, as_in_gguf));
    }
}

TEST_CASE("a model in several files is the whole one, whichever of them is opened") {
    const auto whole = must(Model::open(golden("blocks.gguf")));
    for (const int part : {1, 2, 3}) {
        CAPTURE(part);
        const auto model =
            must(Model::open(golden(fmt::format("split/blocks-{:05}-of-00003.gguf", part))));
        CHECK(model.notes() == whole.notes());
        check_equal(model, whole);
    }
}

TEST_CASE("a part of a model that is missing, misnamed or out of place is named") {
    const Scratch scratch;
    const auto copy = [&](int part, const std::string& name) {
        std::filesystem::copy_file(golden(fmt::format("split/blocks-{:05}-of-00003.gguf", part)),
                                   scratch / name,
                                   std::filesystem::copy_options::overwrite_existing);
        return scratch / name;
    };
    const auto alone = copy(1, "blocks-00001-of-00003.gguf");
    CHECK(contains(sentence_in(Model::open(alone)), "blocks-00002-of-00003.gguf"));
    copy(3, "blocks-00002-of-00003.gguf");
    CHECK(contains(sentence_in(Model::open(alone)),
                   "blocks-00002-of-00003.gguf has 'split.no' = 2; expected 1"));
    CHECK(contains(sentence_in(Model::open(copy(1, "part.gguf"))),
                   "part.gguf is one of 3 files; expected a name like model-00001-of-00003.gguf"));
}

TEST_CASE("divisors of pairs turn as the scaling of Llama 3 that they are made of") {
    const Scratch scratch;
    const auto folder = folder_with(scratch, "llama", [](json& config) {
        config["rope_scaling"] = {{"rope_type", "llama3"},
                                  {"factor", 8.0},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 16}};
    });
    const auto model = must(Model::open(golden("llama.llama3.gguf")));
    CHECK(model.notes().size() == 1);  // that q and k are those after RoPE
    check_equal(model, folder, 1e-5);
    CHECK(difference(run_of(model).read_out,
                     run_of(must(Model::open(golden("llama.gguf")))).read_out) > 1e-3);
}

TEST_CASE("bitsandbytes' int8 is dequantised, and a note says so") {
    const auto model = must(Model::open(golden("int8")));
    REQUIRE(model.notes().size() == 1);
    CHECK(model.notes().front().starts_with("weights of 8 bits are dequantised, q · SCB / 127"));
    const auto wide = must(Model::open(golden("int8_wide")));
    check_equal(model, wide);
    const Scratch scratch;
    for (const char* file : {"config.json", "model.safetensors"})
        std::filesystem::copy_file(golden("int8") / file, scratch / file);
    std::filesystem::copy_file(golden("int8_wide") / "config.json", scratch / "config.json",
                               std::filesystem::copy_options::overwrite_existing);
    CHECK(sentence_in(Model::open(scratch.path())) ==
          fmt::format("{}: array 'model.layers.0.self_attn.q_proj.weight' is int8, which is read "
                      "as a matrix of bitsandbytes whose config.json has its 'quantization_config'",
                      scratch.at("model.safetensors")));
}

TEST_CASE("keys of GGUF that are missing, or change numbers that are not computed, are refused") {
    CHECK(refused("llama.gguf", {{"general.architecture", "falcon"}}) ==
          "m.gguf has 'general.architecture' = \"falcon\"; expected one of llama, qwen2, qwen3, "
          "gpt2, gemma2, gemma3, phi3, olmo2, granite, qwen2moe, qwen3moe");
    CHECK(refused("llama.gguf", {{"general.architecture", nullptr}}) ==
          "m.gguf has no 'general.architecture', which says what the model is");
    CHECK(refused("llama.gguf", {{"llama.block_count", nullptr}}) ==
          "m.gguf has no 'llama.block_count'");
    CHECK(refused("llama.gguf", {{"llama.attention.layer_norm_rms_epsilon", nullptr}}) ==
          "m.gguf has no 'llama.attention.layer_norm_rms_epsilon'");
    CHECK(refused("qwen2.gguf", {{"qwen2.expert_count", 8}}) ==
          "m.gguf has 'qwen2.expert_count' = 8; expected none: it is not computed here");
    CHECK(refused("llama.gguf", {{"llama.attention.head_count", {4, 2}}}) ==
          "m.gguf has 'llama.attention.head_count' = [4,2]; expected a whole number from 1 to "
          "2147483648");
    CHECK(refused("llama.gguf", {{"llama.attention.head_count", {4, 4}}}).empty());
    CHECK(refused("llama.gguf", {{"llama.rope.scaling.type", "dynamic"}})
              .starts_with("m.gguf has 'llama.rope.scaling.type'"));
    CHECK(refused("llama.gguf", {{"llama.rope.dimension_count", 4}}) ==
          "m.gguf has 'llama.rope.dimension_count' = 4; expected 8, all columns of a head: a part "
          "of them is not computed here");
    CHECK(refused("llama.gguf", {{"llama.attention.value_length", 4}}) ==
          "m.gguf has 'llama.attention.value_length' = 4 and 'llama.attention.key_length' = 8; "
          "expected the same");
    CHECK(refused("llama.gguf", {{"split.count", 3}})
              .starts_with("m.gguf is one of 3 files; expected a whole model"));
    CHECK(refused("llama.gguf", {{"general.type", "adapter"}}) ==
          "m.gguf has 'general.type' = \"adapter\"; expected \"model\"");
    CHECK(refused("llama.gguf", {{"llama.new_thing", 1}}) ==
          "'llama.new_thing' of the file is not used: its effect is unknown");
    CHECK(refused("llama.gguf", {{"llama.attention.sliding_window", 4}}) ==
          "'llama.attention.sliding_window' of the file is not used: Llama's own code ignores it");
    CHECK(refused("llama.gguf", {{"llama.rope.freq_base", std::nan("")}}) ==
          "m.gguf has 'llama.rope.freq_base' = nan; expected a finite number");
    CHECK(refused("llama.gguf", {{"llama.attention.layer_norm_rms_epsilon", HUGE_VAL}}) ==
          "m.gguf has 'llama.attention.layer_norm_rms_epsilon' = inf; expected a finite number");
    for (const json& odd :
         {json(-1), json("x"), json(0), json(1e300), json(nullptr), json(json::array())})
        for (const char* key : {"llama.attention.head_count", "llama.embedding_length"})
            CHECK_FALSE(refused("llama.gguf", {{key, odd}}).empty());
}

TEST_CASE("numbers of a small array that are none are refused, and the file named once") {
    const Scratch scratch;
    const std::string name = "rope_freqs.weight";
    std::string bytes = must(read_text_file(golden("llama.llama3.gguf")));
    const std::size_t type = bytes.find(name) + name.size() + 4 + 8;  // behind one axis
    bytes[type] = 26;                                                 // I32
    std::ofstream(scratch / "m.gguf", std::ios::binary) << bytes;
    const std::string path = scratch.at("m.gguf");
    const auto model = Model::open(path);
    REQUIRE_FALSE(model);
    CHECK(model.error().text().starts_with(path + ": " + name));
    CHECK(model.error().text().find(path, 1) == std::string::npos);
}

TEST_CASE("a list of one number a layer, all the same, is that number") {
    const ModelConfig config = llama_with({{"llama.attention.head_count", {4, 4}},
                                           {"llama.attention.key_length", nullptr},
                                           {"llama.attention.value_length", nullptr},
                                           {"llama.rope.dimension_count", nullptr}});
    CHECK(config.heads == 4);
    CHECK(config.columns_of_head() == 6);  // of 24
}

TEST_CASE("a factor of RoPE without a type is linear, as llama.cpp takes it") {
    const char* const type = "llama.rope.scaling.type";
    const char* const factor = "llama.rope.scaling.factor";
    for (const json& values : {json{{factor, 4.0}}, json{{factor, 4.0}, {type, "linear"}}}) {
        const RopeScaling scaling = llama_with(values).rope.scaling;
        CHECK(scaling.kind == RopeScale::linear);
        CHECK(scaling.factor == 4.0);
    }
    for (const json& values : {json{{factor, 0.0}}, json{{factor, 4.0}, {type, "none"}}})
        CHECK(llama_with(values).rope.scaling.kind == RopeScale::none);
    CHECK(refused("llama.gguf", {{type, 7}}).starts_with("m.gguf has 'llama.rope.scaling.type'"));
}

TEST_CASE("a file is GGUF by its name or its first bytes, and is a model") {
    const Scratch scratch;
    std::filesystem::copy_file(golden("llama.gguf"), scratch / "m.bin");
    CHECK(is_model(scratch / "m.bin"));
    CHECK(must(Model::open(scratch / "m.bin")).config().layers == 2);
    write_bytes(scratch / "x.gguf", "hello");
    CHECK(is_model(scratch / "x.gguf"));
    CHECK(sentence_in(Model::open(scratch / "x.gguf")) ==
          scratch.at("x.gguf") + " is not a GGUF file; expected \"GGUF\" at its beginning");
    write_bytes(scratch / "x.txt", "hello");
    CHECK_FALSE(is_model(scratch / "x.txt"));
    CHECK_FALSE(is_model(scratch / "missing.gguf"));
    CHECK(sentence_in(must(Model::open(golden("llama.gguf"))).tokens_of("a")) ==
          golden("llama.gguf").string() +
              " has no tokenizer: 'tokenizer.ggml.model' is missing or says none; without a "
              "tokenizer a text is the numbers of its tokens, such as 15496 995");
}

TEST_CASE("tokenizers of GGUF give the numbers of the files that they are made of") {
    for (const std::string name : {"gpt2", "llama3"}) {
        CAPTURE(name);
        check_lines(must(tokenizer_of_gguf(tokenizer_values(name), "m")), name);
    }
    // Qwen 2 normalises; the golden does not.
    json composed = must(read_json_file(tokenizer_file("qwen2.json")));
    composed["normalizer"] = {{"type", "NFC"}};
    const auto qwen = must(tokenizer_of_gguf(tokenizer_values("qwen2"), "m"));
    const auto wanted = must(Tokenizer::parse(composed.dump(), "q"));
    for (const json& line : must(read_json_file(tokenizer_file("lines.json"))))
        CHECK(ids_of(qwen, line.get<std::string>()) == ids_of(wanted, line.get<std::string>()));
    check_lines(must(tokenizer_of_gguf(tokenizer_values("bpe"), "m")), "sentencepiece_bpe");
    const auto gpt2 = must(tokenizer_of_gguf(tokenizer_values("gpt2"), "m"));
    CHECK(ids_of(gpt2, "<|endoftext|>") == std::vector<Index>{gpt2.size() - 1});
    json values = tokenizer_values("bpe");
    values.erase("tokenizer.ggml.add_bos_token");
    CHECK(ids_of(must(tokenizer_of_gguf(values, "m")), "").front() == 1);
}

TEST_CASE("keys of a tokenizer in GGUF that are not computed are refused by name") {
    const auto with = [](const std::string& name, const char* key, const json& value) {
        json values = tokenizer_values(name);
        values[key] = value;
        return sentence_in(tokenizer_of_gguf(values, "m"));
    };
    CHECK(
        with("gpt2", "tokenizer.ggml.pre", "kimi-k2")
            .starts_with("m has 'tokenizer.ggml.pre' = \"kimi-k2\"; expected one of gpt-2 phi-2 "));
    CHECK(with("gpt2", "tokenizer.ggml.pre", "gpt-2 phi-2")
              .starts_with("m has 'tokenizer.ggml.pre' = \"gpt-2 phi-2\"; expected one of "));
    for (const std::string name :
         {"gpt-2",       "llama-bpe",  "dbrx",     "qwen2",   "stablelm2",    "qwen35",
          "gpt-4o",      "tekken",     "smollm",   "refact",  "deepseek-llm", "deepseek-coder",
          "deepseek-v3", "falcon",     "default",  "bloom",   "viking",       "bailingmoe",
          "seed-coder",  "exaone-moe", "minicpm5", "tiny_aya"}) {
        CAPTURE(name);
        CHECK(with("gpt2", "tokenizer.ggml.pre", name) == "");
    }
    CHECK(with("gpt2", "tokenizer.ggml.model", "bert") ==
          "m has 'tokenizer.ggml.model' = \"bert\"; expected gpt2, llama or t5");
    CHECK(with("gpt2", "tokenizer.ggml.token_type", {1, 2}) ==
          "m has 507 tokens, but another number of scores or types");
    CHECK(with("bpe", "tokenizer.ggml.add_eos_token", true) ==
          "m has no 'tokenizer.ggml.eos_token_id'");
    for (const char* key : {"tokens", "scores", "token_type", "merges", "bos_token_id", "pre"})
        for (const json& odd :
             {json(-1), json("x"), json::array(), json({nullptr}), json({1, "a"})})
            for (const char* name : {"gpt2", "bpe"}) {
                json values = tokenizer_values(name);
                values[fmt::format("tokenizer.ggml.{}", key)] = odd;
                values["tokenizer.ggml.add_bos_token"] = true;
                const auto made = tokenizer_of_gguf(values, "m");  // opens or says why
                if (!made) CHECK(made.error().text().starts_with("m "));
            }
}

TEST_CASE("SentencePiece's tokenizer.model gives SentencePiece's numbers") {
    for (const std::string name : {"bpe", "unigram"}) {
        CAPTURE(name);
        const auto bytes = must(read_text_file(tokenizer_file("sentencepiece_" + name + ".model")));
        check_lines(must(Tokenizer::parse_sentence_pieces(bytes, "m", kPlain)),
                    "sentencepiece_" + name);
    }
}

TEST_CASE("tokenizer.model is read where tokenizer.json is not, with what stands around a text") {
    const Scratch scratch;
    const auto bytes = must(read_text_file(tokenizer_file("sentencepiece_bpe.model")));
    write_bytes(scratch / "tokenizer.model", bytes);
    write_bytes(scratch / "config.json", R"({"model_type":"llama"})");
    const auto plain = must(Tokenizer::parse_sentence_pieces(bytes, "m", kPlain));
    const auto ids = ids_of(plain, "the street");
    auto expected = ids;
    expected.insert(expected.begin(), 1);
    CHECK(ids_of(must(Tokenizer::open(scratch.path())), "the street") == expected);
    expected.push_back(2);
    const std::string number = fmt::format("{}", plain.size());
    write_bytes(scratch / "tokenizer_config.json",
                R"({"add_eos_token":true,"added_tokens_decoder":{")" + number +
                    R"(":{"content":"<end>","special":true}}})");
    const auto more = must(Tokenizer::open(scratch.path()));
    CHECK(ids_of(more, "the street") == expected);
    CHECK(ids_of(more, "<end>") == std::vector<Index>{1, plain.size(), 2});
    CHECK(ids_of(more, "<s>") == std::vector<Index>{1, 1, 2});
    write_bytes(scratch / "config.json", R"({"model_type":"bert"})");
    CHECK(contains(
        sentence_in(Tokenizer::open(scratch.path())),
        "has the tokenizer 'BertTokenizer', which is not read from tokenizer.model or "
        "spiece.model; expected LlamaTokenizer or GemmaTokenizer or T5Tokenizer or MT5Tokenizer"));
}

TEST_CASE("spiece.model is read as T5 does: </s> behind a text, 100 tokens behind the pieces") {
    const Scratch scratch;
    const auto bytes = must(read_text_file(tokenizer_file("sentencepiece_unigram.model")));
    const auto plain = must(Tokenizer::parse_sentence_pieces(bytes, "m", kPlain));
    write_bytes(scratch / "spiece.model", bytes);
    const auto with = [&](const char* type, const std::string& settings) {
        write_bytes(scratch / "config.json", fmt::format(R"({{"model_type":"{}"}})", type));
        write_bytes(scratch / "tokenizer_config.json", settings);
        return Tokenizer::open(scratch.path());
    };
    std::vector<Index> expected = ids_of(plain, "the");
    expected.push_back(plain.size() + 99);
    std::ranges::copy(ids_of(plain, "street"), std::back_inserter(expected));
    expected.push_back(2);
    for (const char* settings :
         {"{}", R"({"extra_ids":100,"additional_special_tokens":["<extra_id_0>"]})"})
        for (const char* type : {"t5", "mt5"}) {
            const auto t5 = must(with(type, settings));
            CHECK(t5.size() == plain.size() + 100);
            CHECK(ids_of(t5, "the <extra_id_0> street") == expected);
            CHECK(ids_of(t5, "<extra_id_99>") == std::vector<Index>{plain.size(), 2});
        }
    CHECK(must(with("mt5", R"({"extra_ids":0})")).size() == plain.size());
    CHECK(contains(sentence_in(with("llama", R"({"extra_ids":0})")),
                   "has the key 'extra_ids' in the file, which is not known here"));
}

TEST_CASE("after a control token a text begins anew, unless 'legacy' is false") {
    const auto bytes = must(read_text_file(tokenizer_file("sentencepiece_bpe.model")));
    const auto with = [&](const std::string& more) {
        return must(Tokenizer::parse_sentence_pieces(
            bytes, "m",
            {.json = R"({"tokenizer_class":"LlamaTokenizer","add_bos_token":false)" + more + "}",
             .where = "t.json"}));
    };
    const std::vector<Index> alone = ids_of(with(""), "the street");
    std::vector<Index> again = alone;
    again.insert(again.begin(), 2);
    for (const char* more : {"", R"(,"legacy":true)", R"(,"legacy":null)"})
        CHECK(ids_of(with(more), "</s>the street") == again);
    const auto newer = with(R"(,"legacy":false)");
    CHECK(ids_of(newer, "the street") == alone);
    CHECK(ids_of(newer, "</s>the street") != again);
}

TEST_CASE("what is no model of SentencePiece, and what is not computed, is refused") {
    const auto refused_model = [](const std::string& bytes) {
        return sentence_in(Tokenizer::parse_sentence_pieces(bytes, "m", kPlain));
    };
    const auto message = [](char tag, const std::string& inside) {
        return std::string{tag, static_cast<char>(inside.size())} + inside;
    };
    const auto piece = [&](const std::string& text, char kind) {
        return message(0x0A, message(0x0A, text) + std::string{0x18, kind});
    };
    const std::string pieces = piece("<unk>", 2) + piece("a", 1) + piece("b", 1);
    CHECK(refused_model("") == "m has no pieces; expected a model of SentencePiece");
    CHECK(refused_model("\x0A\x7F") == "m is not a SentencePiece model, or is truncated");
    CHECK(refused_model(std::string(20, '\xFF')) ==
          "m is not a SentencePiece model, or is truncated");
    CHECK(refused_model(piece("a", 1)) == "m has no piece for unknown text");
    CHECK(refused_model(pieces + piece("c", 9)) == "m has a piece of type 9; expected 1 to 6");
    CHECK(refused_model(pieces + message(0x12, {0x18, 4})) ==
          "m has 'model_type' = 4; expected 1 (Unigram) or 2 (BPE)");
    CHECK(refused_model(pieces + message(0x1A, {0x28, 0})) ==
          "m has 'escape_whitespaces' = false, which is not computed here");
    CHECK(refused_model(pieces + message(0x1A, message(0x12, "\xFF\xFF\xFF\x7Fxxxx"))) ==
          "m has a map of characters of 8 bytes that is cut off");
    CHECK(refused_model(pieces + piece("ab", 5) + message(0x12, {0x18, 2})) ==
          "m has the unused piece 'ab', which others are joined to: it is not computed here");
    CHECK(refused_model(pieces + message(0x12, {0x18, 2, char(0xC0), 1, 1})) ==
          "m has 'treat_whitespace_as_suffix', which is not computed here");
    CHECK(contains(
        sentence_in(Tokenizer::parse_sentence_pieces(
            pieces, "m", {.json = R"({"tokenizer_class":"LlamaTokenizer"})", .where = "t"})),
        "t puts '<s>' around a text, which the vocabulary does not have"));
    std::string long_piece(20000, 'a');
    std::string large = message(0x0A, "");
    const std::string inside = std::string{0x0A, char(0xA0), char(0x9C), 1} + long_piece;
    large = std::string{0x0A, char(0xA4), char(0x9C), 1} + inside;
    CHECK(contains(refused_model(pieces + large + message(0x12, {0x18, 2})),
                   "pieces that are too long"));
}
