#include <doctest/doctest.h>

#include <fstream>
#include <optional>

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

TEST_CASE("what is not said is as the family's own configuration class has it") {
    struct Row {
        const char* said;
        double epsilon;
        std::optional<Index> window;
        Index kv_heads;
    };
    const Row rows[] = {
        {R"("model_type":"gpt2")", 1e-5, {}, 4},
        {R"("model_type":"gpt2","layer_norm_epsilon":0.01)", 0.01, {}, 4},
        {R"("model_type":"gpt2","layer_norm_eps":0.01,"rms_norm_eps":0.02)", 1e-5, {}, 4},
        {R"("model_type":"gpt2","sliding_window":3)", 1e-5, {}, 4},
        {R"("model_type":"bert")", 1e-12, {}, 4},
        {R"("model_type":"bert","layer_norm_eps":0.01,"sliding_window":3)", 0.01, {}, 4},
        {R"("model_type":"llama")", 1e-6, {}, 4},
        {R"("model_type":"llama","sliding_window":3,"layer_norm_eps":0.5)", 1e-6, {}, 4},
        {R"("model_type":"llama","rms_norm_eps":1e-5,"num_key_value_heads":2)", 1e-5, {}, 2},
        {R"("model_type":"mistral","num_key_value_heads":2)", 1e-6, 4096, 2},
        {R"("model_type":"mistral","num_key_value_heads":2,"sliding_window":3)", 1e-6, 3, 2},
        {R"("model_type":"mistral","num_key_value_heads":null,"sliding_window":null)", 1e-6, {}, 4},
        {R"("model_type":"qwen2","num_key_value_heads":2,"sliding_window":3)", 1e-6, {}, 2},
        {R"("model_type":"qwen2","num_key_value_heads":2,"sliding_window":3,"use_sliding_window":true)",
         1e-6,
         {},
         2},
        {R"("model_type":"qwen2","num_key_value_heads":2,"sliding_window":3,"use_sliding_window":true,
             "max_window_layers":0)",
         1e-6, 3, 2},
        {R"("model_type":"qwen3","num_key_value_heads":2,"use_sliding_window":true,
             "layer_types":["sliding_attention","sliding_attention"])",
         1e-6, 4096, 2},
        {R"("model_type":"qwen3","num_key_value_heads":2,"use_sliding_window":true,"max_window_layers":0,
             "layer_types":["full_attention","full_attention"])",
         1e-6,
         {},
         2},
    };
    for (const Row& row : rows) {
        CAPTURE(row.said);
        const auto config = must(parse_model_config(
            fmt::format(
                R"({{{},"hidden_size":8,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":9}})",
                row.said),
            "c.json"));
        CHECK(config.epsilon == row.epsilon);
        CHECK(config.window == row.window);
        CHECK(config.kv_heads == row.kv_heads);
    }
}

TEST_CASE("a setting that would change the numbers is refused by its name") {
    const auto refused = [](const char* more, const char* family = "llama") {
        return fault_of(fmt::format(
            R"({{"model_type":"{}","hidden_size":8,"num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":4,
                "vocab_size":9,{}}})",
            family, more));
    };
    CHECK(refused(R"("quantization_config":{"bits":8})") ==
          "c.json has 'quantization_config' = {\"bits\":8}; expected none: weights that are codes "
          "are not read here");
    CHECK(refused(R"("is_decoder":true)", "bert") ==
          "c.json has 'is_decoder' = true; expected false: it is computed as an encoder");
    CHECK(refused(R"("is_causal":false)") ==
          "c.json has 'is_causal' = false; expected true: it is computed as a decoder");
    CHECK(refused(R"("partial_rotary_factor":0.5)") ==
          "c.json has 'partial_rotary_factor' = 0.5; expected 1: it is not computed here");
    CHECK(refused(R"("partial_rotary_factor":1.0)").empty());
    for (const char* key : {"attention_multiplier", "embedding_multiplier", "residual_multiplier",
                            "logits_scaling", "logit_scale"})
        CHECK(refused(fmt::format(R"("{}":2)", key).c_str()) ==
              fmt::format("c.json has '{}' = 2; expected 1: it is not computed here", key));
    for (const char* key :
         {"attn_logit_softcapping", "final_logit_softcapping", "query_pre_attn_scalar"})
        CHECK(refused(fmt::format(R"("{}":30)", key).c_str()) ==
              fmt::format("c.json has '{}' = 30; expected none: it is not computed here", key));
    CHECK(refused(R"("use_sliding_window":true,"max_window_layers":1)", "qwen2") ==
          "c.json has a window of keys in 1 of 2 layers; expected one in all of them or in none: "
          "layers of two kinds are not computed here");
    CHECK(
        refused(R"("use_sliding_window":true,"layer_types":["full_attention"])", "qwen3") ==
        "c.json has 'layer_types' = [\"full_attention\"]; expected one type for each of 2 layers");
    CHECK(refused(R"("use_sliding_window":true,"layer_types":["full_attention","linear"])",
                  "qwen3") ==
          "c.json has 'layer_types' = [\"full_attention\",\"linear\"]; expected "
          "\"full_attention\" or \"sliding_attention\" for each layer");
    CHECK(refused(R"("architectures":"LlamaForCausalLM")") ==
          "c.json has 'architectures' = \"LlamaForCausalLM\"; expected a list of names of classes");
}

TEST_CASE("keys that are no settings of the family are listed, and do not count") {
    using Keys = std::vector<std::string>;
    const auto read = [](const std::string& said) {
        return must(parse_model_config("{" + said + "}", "c.json"));
    };
    const std::string sizes =
        R"("hidden_size":8,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":9)";
    const auto gpt2 = read(
        std::string(kGpt2) +
        R"(,"hidden_act":"relu","intermediate_size":5,"head_dim":3,"num_key_value_heads":1,"n_ctx":4)");
    CHECK(gpt2.unused ==
          Keys{"head_dim", "hidden_act", "intermediate_size", "num_key_value_heads"});
    CHECK(gpt2.activation == Activation::gelu_tanh);
    CHECK_FALSE(gpt2.hidden);
    CHECK_FALSE(gpt2.head_width);
    CHECK(gpt2.kv_heads == 3);
    const auto llama = read(
        R"("model_type":"llama","activation_function":"relu","sliding_window":3,"attention_dropout":0.1,"foo":1,)" +
        sizes);
    CHECK(llama.unused == Keys{"activation_function", "foo", "sliding_window"});
    CHECK(llama.activation == Activation::silu);
    CHECK(
        read(
            R"("model_type":"qwen2","sliding_window":3,"max_window_layers":2,"num_key_value_heads":4,)" +
            sizes)
            .unused.empty());
    CHECK(
        fault_of(
            R"({"model_type":"llama","rope_scaling":{"type":"linear","factor":2},"rope_parameters":{"rope_type":"default"},)" +
            sizes + "}") ==
        R"(c.json has 'rope_parameters' = {"rope_type":"default"}; expected none beside 'rope_scaling')");
}

TEST_CASE("what is wrong with a config is named") {
    CHECK(fault_of("{}") ==
          "c.json has no 'model_type', which says what the model is; known are GPT-2, Llama, "
          "Mistral, Qwen 2, "
          "Qwen 3, BERT, ViT, Universal Sentence Encoder Lite");
    CHECK(
        fault_of(R"({"model_type":"mamba"})") ==
        "c.json has 'model_type' = \"mamba\"; expected one of GPT-2, Llama, Mistral, Qwen 2, "
        "Qwen 3, BERT, ViT, Universal Sentence Encoder Lite; of another, Python saves the weights "
        "of attention, which are opened alone: import numpy, transformers as t; "
        "numpy.savez(\"attention.npz\", **{f\"attentions.{n}\": a.detach().float().numpy() for n, "
        "a in enumerate(t.AutoModel.from_pretrained(\".\", attn_implementation=\"eager\")"
        "(**t.AutoTokenizer.from_pretrained(\".\")(\"TEXT\", return_tensors=\"pt\"), "
        "output_attentions=True).attentions)})");
    CHECK(fault_of("[]") == "c.json is no JSON object");
    CHECK(fault_of(R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"vocab_size":50})") ==
          "c.json has no 'num_attention_heads'");
    const auto with = [](const char* more) {
        return fault_of(fmt::format("{{{},{}}}", kGpt2, more));
    };
    CHECK(fault_of(R"({"model_type":"llama","hidden_size":6,"num_hidden_layers":1,)"
                   R"("num_attention_heads":3,"num_key_value_heads":2,"vocab_size":9})") ==
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
          file + ": array 'transformer.wte.weight' is [50, 24]; expected [50, 25]");
    CHECK(open(R"({"model_type":"gpt2","n_embd":24,"n_layer":3,"n_head":3,"vocab_size":50})") ==
          file + " has no array 'transformer.h.2.attn.c_attn.weight', which this model needs");
    CHECK(open(R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"n_head":5,"vocab_size":50})") ==
          "q|k|v has 72 columns; expected a multiple of 15 heads");
    std::filesystem::remove_all(folder);
}
