#include <doctest/doctest.h>

#include <fstream>

#include <fmt/format.h>

#include "attn_tree.h"
#include "core/models/model.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

constexpr const char* kGpt2 =
    R"("model_type":"gpt2","n_embd":24,"n_layer":2,"n_head":3,"vocab_size":50)";

std::string fault_of(const std::string& json) {
    return sentence_in(parse_model_config(json, "c.json"));
}

}  // namespace

TEST_CASE("sizes under the names of each family") {
    const auto gpt2 = must(parse_model_config(fmt::format("{{{}}}", kGpt2), "c.json"));
    CHECK(gpt2.width == 24);
    CHECK(gpt2.layers == 2);
    CHECK(gpt2.heads == 3);
    CHECK(gpt2.kv_heads == 3);
    CHECK(gpt2.tied);
    CHECK(gpt2.activation == Activation::gelu_tanh);
    const auto qwen = must(parse_model_config(
        R"({"model_type":"qwen2","hidden_size":8,"num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":2,
        "vocab_size":9,"rope_theta":1e6,"use_sliding_window":false,"sliding_window":4096,"rms_norm_eps":1e-6})",
        "c.json"));
    CHECK(qwen.kv_heads == 2);
    CHECK(qwen.rope_base == 1e6);
    CHECK_FALSE(qwen.window);
    CHECK_FALSE(qwen.tied);
    CHECK(qwen.epsilon == 1e-6);
}

TEST_CASE("what is wrong with a config is named") {
    CHECK(fault_of("{}") ==
          "c.json has no 'model_type', which says what the model is; known are GPT-2, Llama, "
          "Mistral, Qwen 2, "
          "Qwen 3, BERT, ViT, Universal Sentence Encoder Lite");
    CHECK(fault_of(R"({"model_type":"mamba"})") ==
          "c.json has 'model_type' = \"mamba\"; expected one of GPT-2, Llama, Mistral, Qwen 2, "
          "Qwen 3, BERT, ViT, "
          "Universal Sentence Encoder Lite");
    CHECK(fault_of("[]") == "c.json is no JSON object");
    CHECK(fault_of(R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"vocab_size":50})") ==
          "c.json has no 'num_attention_heads'");
    const auto with = [](const char* more) {
        return fault_of(fmt::format("{{{},{}}}", kGpt2, more));
    };
    CHECK(with(R"("num_key_value_heads":2)") ==
          "c.json has 3 heads and 2 key-value heads; expected a divisor");
    CHECK(with(R"("layer_norm_epsilon":-1)") ==
          "c.json has 'layer_norm_epsilon' = -1; expected a number above 0");
    CHECK(with(R"("activation_function":"mish")") ==
          "c.json has 'activation_function' = \"mish\"; expected relu, gelu, gelu_new, "
          "gelu_pytorch_tanh or silu");
    CHECK(with(R"("scale_attn_by_inverse_layer_idx":true)") ==
          "c.json has 'scale_attn_by_inverse_layer_idx', which is not computed here");
    CHECK(with(R"("rope_scaling":{"rope_type":"yarn"})") ==
          "c.json has 'rope_scaling' = {\"rope_type\":\"yarn\"}; expected type default, linear or "
          "llama3: other scaled positions are not computed here");
    CHECK(with(R"("rope_scaling":[8])") ==
          "c.json has 'rope_scaling' = [8]; expected type default, linear or llama3: other scaled "
          "positions are not computed here");
    CHECK(with(R"("rope_scaling":{"type":"linear"})") == "c.json 'rope_scaling' has no 'factor'");
    CHECK(with(R"("rope_scaling":{"type":"linear","factor":0})") ==
          "c.json 'rope_scaling' has 'factor' = 0; expected a number above 0");
    CHECK(with(R"("rope_parameters":{"rope_type":"llama3","factor":8,"low_freq_factor":4,
                  "high_freq_factor":1,"original_max_position_embeddings":8192})") ==
          "c.json 'rope_parameters' has 'low_freq_factor' = 4 and 'high_freq_factor' = 1; expected "
          "the first to be the smaller");
    CHECK(with(R"("rope_scaling":{"rope_type":"llama3","factor":8})") ==
          "c.json 'rope_scaling' has no 'low_freq_factor'");
    for (const char* size : {"0", "-2", "1.5", "1e30", "\"4\"", "true"})
        CHECK(fault_of(fmt::format(
                  R"({{"model_type":"gpt2","n_embd":{},"n_layer":2,"n_head":3,"vocab_size":50}})",
                  size)) ==
              fmt::format("c.json has 'n_embd' = {}; expected a whole number from 1 to 2147483648",
                          size == std::string("1e30") ? "1e+30" : size));
}

TEST_CASE("a missing or misshapen tensor is named with what was expected") {
    const auto source = std::filesystem::path(ATTN_TEST_DATA) / "models/gpt2";
    const auto folder = std::filesystem::temp_directory_path() / "attn_models_config_test";
    std::filesystem::create_directories(folder);
    std::filesystem::copy_file(source / "model.safetensors", folder / "model.safetensors",
                               std::filesystem::copy_options::overwrite_existing);
    const auto open = [&](const std::string& config) {
        std::ofstream(folder / "config.json") << config;
        return sentence_in(Model::open(folder));
    };
    const std::string file = (folder / "model.safetensors").string();
    CHECK(open(R"({"model_type":"gpt2","n_embd":25,"n_layer":2,"n_head":3,"vocab_size":50})") ==
          file + ": array 'transformer.wte.weight' is [50, 24]; expected [any, 25]");
    CHECK(open(R"({"model_type":"gpt2","n_embd":24,"n_layer":3,"n_head":3,"vocab_size":50})") ==
          file + " has no array 'transformer.h.2.attn.c_attn.weight', which this model needs");
    CHECK(open(R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"n_head":5,"vocab_size":50})") ==
          "q|k|v has 72 columns; expected a multiple of 15 heads");
    std::filesystem::remove_all(folder);
}
