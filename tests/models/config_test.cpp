#include <doctest/doctest.h>

#include <fstream>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attn_tree.h"
#include "core/backend.h"
#include "core/io/json.h"
#include "core/models/config_keys.h"
#include "core/models/family.h"
#include "core/models/model.h"
#include "tests/support/results.h"
#include "tests/support/small_models.h"

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
    CHECK(qwen.rope.base == 1e6);
    CHECK_FALSE(qwen.window);
    CHECK_FALSE(qwen.tied);
    CHECK(qwen.epsilon == 1e-6);
}

TEST_CASE("what is not said is as the family's own configuration class has it") {
    struct Row {
        const char* stated;
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
        CAPTURE(row.stated);
        const auto config = must(parse_model_config(
            fmt::format(
                R"({{{},"hidden_size":8,"num_hidden_layers":2,"num_attention_heads":4,"vocab_size":9}})",
                row.stated),
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
          "c.json has 'quantization_config' = {\"bits\":8}; expected none, or bitsandbytes with "
          "'load_in_8bit': other quantised weights are not read here");
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
    CHECK(
        refused(R"("use_sliding_window":true,"layer_types":["full_attention"])", "qwen3") ==
        "c.json has 'layer_types' = [\"full_attention\"]; expected one type for each of 2 layers");
    CHECK(refused(R"("use_sliding_window":true,"layer_types":["full_attention","linear"])",
                  "qwen3") ==
          "c.json has 'layer_types' = [\"full_attention\",\"linear\"]; expected \"full_attention\" "
          "or \"sliding_attention\" for each layer");
    CHECK(refused(R"("architectures":"LlamaForCausalLM")") ==
          "c.json has 'architectures' = \"LlamaForCausalLM\"; expected a list of names of classes");
}

constexpr const char* kSizes =
    R"("hidden_size":8,"num_hidden_layers":1,"num_attention_heads":4,"vocab_size":9)";

TEST_CASE("keys of other families are listed, apart from those of which nothing is known") {
    using Keys = std::vector<std::string>;
    const auto read = [](const std::string& stated) {
        return must(parse_model_config("{" + stated + "}", "c.json"));
    };
    const std::string sizes = kSizes;
    const auto gpt2 = read(
        std::string(kGpt2) +
        R"(,"hidden_act":"relu","intermediate_size":5,"head_dim":3,"num_key_value_heads":1,"n_ctx":4)");
    CHECK(gpt2.ignored ==
          Keys{"head_dim", "hidden_act", "intermediate_size", "num_key_value_heads"});
    CHECK(gpt2.unknown.empty());
    CHECK(gpt2.activation == Activation::gelu_tanh);
    CHECK_FALSE(gpt2.hidden);
    CHECK_FALSE(gpt2.head_width);
    CHECK(gpt2.kv_heads == 3);
    const auto llama = read(
        R"("model_type":"llama","activation_function":"relu","sliding_window":3,"attention_dropout":0.1,"foo":1,)" +
        sizes);
    CHECK(llama.ignored == Keys{"activation_function", "sliding_window"});
    CHECK(llama.unknown == Keys{"foo"});
    CHECK(llama.activation == Activation::silu);
    for (const char* window : {"3", "null"}) {
        const auto qwen = read(
            fmt::format(
                R"("model_type":"qwen2","sliding_window":{},"max_window_layers":2,"use_sliding_window":true,"num_key_value_heads":4,)",
                window) +
            sizes);
        CHECK(qwen.ignored.empty());
        CHECK(qwen.unknown.empty());
    }
    CHECK(
        fault_of(
            R"({"model_type":"llama","rope_scaling":{"type":"linear","factor":2},"rope_parameters":{"rope_type":"default"},)" +
            sizes + "}") ==
        R"(c.json has 'rope_parameters' = {"rope_type":"default"}; expected none together with 'rope_scaling')");
}

TEST_CASE("a model's notes name the keys of its config.json that are not used, and why") {
    const Scratch scratch;
    test::copy_model("gpt2", scratch.path() / "m");
    const auto file = scratch.path() / "m" / "config.json";
    const auto config = must(read_json_file(file));
    const auto notes_with = [&](const nlohmann::json& more) {
        auto with = config;
        with.update(more);
        std::ofstream(file) << with.dump();
        return must(Model::open(file.parent_path())).notes();
    };
    using Notes = std::vector<std::string>;
    CHECK(notes_with(nlohmann::json::object()) == Notes{});
    CHECK(notes_with({{"sliding_window", 3}}) ==
          Notes{"'sliding_window' of config.json is not used: GPT-2's own code ignores it"});
    CHECK(notes_with({{"sliding_window", 3}, {"head_dim", 5}, {"zeta", 1}}) ==
          Notes{"'head_dim', 'sliding_window' of config.json are not used: GPT-2's own code "
                "ignores them",
                "'zeta' of config.json is not used: its effect is unknown"});
}

TEST_CASE("Gemma 3 has a soft cap of scores in its configuration and computes without it") {
    const Scratch scratch;
    test::copy_model("gemma3_text", scratch.path() / "m");
    const auto file = scratch.path() / "m" / "config.json";
    const auto config = must(read_json_file(file));
    const std::vector<ModelToken> tokens{{1, ""}, {2, ""}, {3, ""}};
    const auto run_with = [&](const nlohmann::json& more, std::vector<std::string>& notes) {
        auto with = config;
        with.update(more);
        std::ofstream(file) << with.dump();
        const Model model = must(Model::open(file.parent_path()));
        notes = model.notes();
        return must(model.run(tokens, *find_backend("staged"))).read_out;
    };
    std::vector<std::string> notes;
    const Tensor plain = run_with({{"attn_logit_softcapping", nullptr}}, notes);
    CHECK(notes.empty());
    const Tensor capped = run_with({{"attn_logit_softcapping", 0.01}}, notes);
    CHECK(notes == std::vector<std::string>{
                       "'attn_logit_softcapping' of config.json is not used: Gemma 3 (text)'s own "
                       "code ignores it"});
    CHECK(std::ranges::equal(capped.values(), plain.values()));
    // that of the logits it has
    const Tensor of_logits = run_with({{"final_logit_softcapping", 0.01}}, notes);
    CHECK(std::ranges::all_of(of_logits.values(), [](float x) { return std::abs(x) <= 0.01F; }));
}

TEST_CASE("what each family's configuration class has is known, and nothing of it is listed") {
    const std::string common =
        R"(,"architectures":["M"],"torch_dtype":"float32","transformers_version":"4.57.0","use_cache":true,"initializer_range":0.02,
        "bos_token_id":1,"eos_token_id":2,"pad_token_id":0,"output_attentions":false,"return_dict":true,"pruned_heads":{},
        "is_encoder_decoder":false,"add_cross_attention":false,"tie_encoder_decoder":false,"chunk_size_feed_forward":0,
        "cross_attention_hidden_size":null,"num_beams":1,"top_k":50,"temperature":1.0,"_name_or_path":"m")";
    const std::string decoder =
        R"(,"intermediate_size":10,"hidden_act":"silu","max_position_embeddings":64,"rms_norm_eps":1e-6,"num_key_value_heads":2,
        "tie_word_embeddings":false,"rope_theta":10000.0,"rope_scaling":null,"attention_dropout":0.0,"head_dim":2)";
    const std::string encoder =
        R"(,"intermediate_size":10,"hidden_act":"gelu","layer_norm_eps":1e-12,"hidden_dropout_prob":0.1,
        "attention_probs_dropout_prob":0.1)";
    const std::string window =
        R"(,"use_sliding_window":false,"sliding_window":4096,"max_window_layers":28,"layer_types":["full_attention"])";
    const std::pair<const char*, std::string> families[] = {
        {"gpt2",
         R"(,"n_embd":8,"n_layer":1,"n_head":4,"n_positions":16,"n_ctx":16,"n_inner":null,"activation_function":"gelu_new",
         "resid_pdrop":0.1,"embd_pdrop":0.1,"attn_pdrop":0.1,"layer_norm_epsilon":1e-5,"summary_type":"cls_index",
         "summary_use_proj":true,"summary_activation":null,"summary_proj_to_labels":true,"summary_first_dropout":0.1,
         "scale_attn_weights":true,"scale_attn_by_inverse_layer_idx":false,"reorder_and_upcast_attn":false,
         "task_specific_params":{})"},
        {"llama", decoder + R"(,"attention_bias":false,"mlp_bias":false,"pretraining_tp":1)"},
        {"mistral", decoder + R"(,"sliding_window":null)"},
        {"qwen2", decoder + window},
        {"qwen3", decoder + window + R"(,"attention_bias":false)"},
        {"bert",
         encoder +
             R"(,"max_position_embeddings":16,"type_vocab_size":2,"position_embedding_type":"absolute",
         "classifier_dropout":null,"gradient_checkpointing":false,"directionality":"bidi","pooler_type":"first_token_transform")"},
        {"vit",
         encoder +
             R"(,"image_size":8,"patch_size":4,"num_channels":3,"qkv_bias":true,"encoder_stride":16,
         "pooler_output_size":null,"pooler_act":"tanh","id2label":{"0":"a"},"label2id":{"a":0},"problem_type":null)"},
    };
    for (const auto& [family, keys] : families) {
        CAPTURE(family);
        const bool gpt2 = std::string_view(family) == "gpt2";
        std::string sizes = gpt2 ? R"("vocab_size":9)" : kSizes;
        if (std::string_view(family) == "vit") sizes.erase(sizes.rfind(','));
        const auto config = must(parse_model_config(
            fmt::format(R"({{"model_type":"{}",{}{}{}}})", family, sizes, keys, common), "c.json"));
        CHECK(fmt::format("{}", fmt::join(config.unknown, " ")).empty());
        CHECK(fmt::format("{}", fmt::join(config.ignored, " ")).empty());
        // with all keys of the others: theirs are listed, and change nothing
        for (const auto& [other, more] : families) {
            if (std::string_view(other) == family) continue;
            auto both = nlohmann::json::parse("{" + sizes + more + "}");
            both.update(nlohmann::json::parse("{" + sizes + keys + "}"));
            both["model_type"] = family;
            const auto read = must(parse_model_config(both.dump(), "c.json"));
            CHECK(read.unknown.empty());
            CHECK(read.hidden == config.hidden);
            CHECK(read.epsilon == config.epsilon);
            CHECK(read.window == config.window);
            CHECK(read.kinds == config.kinds);
            CHECK(read.rope.base == config.rope.base);
            CHECK(read.activation == config.activation);
        }
    }
}

TEST_CASE("a setting of another architecture is refused by its name, unless it changes nothing") {
    const auto refused = [](const std::string& key, const std::string& value) {
        return fault_of(fmt::format(R"({{"model_type":"llama",{},"{}":{}}})", kSizes, key, value));
    };
    const char* const none[] = {"alibi",
                                "attention_chunk_size",
                                "attn_config",
                                "clip_qkv",
                                "kv_lora_rank",
                                "no_rope_layers",
                                "num_experts",
                                "num_local_experts",
                                "q_lora_rank",
                                "qk_layernorm",
                                "quantization",
                                "relative_attention",
                                "rope_local_base_freq",
                                "rotary_dim",
                                "sliding_window_pattern",
                                "text_config",
                                "use_alibi",
                                "use_bidirectional_attention",
                                "use_parallel_residual",
                                "use_qk_norm",
                                "vision_config"};
    for (const char* key : none) {
        CHECK(refused(key, "7") ==
              fmt::format("c.json has '{}' = 7; expected none: it is not computed here", key));
        for (const char* without : {"null", "false", "0", "[]", "{}"})
            CHECK(refused(key, without).empty());
    }
    for (const char* key : {"rotary_pct", "rope_pct", "rope_ratio", "scale_emb"}) {
        CHECK(refused(key, "0.25") ==
              fmt::format("c.json has '{}' = 0.25; expected 1: it is not computed here", key));
        CHECK(refused(key, "1").empty());
        CHECK(refused(key, "null").empty());
    }
    for (const char* key : {"embedding_size", "word_embed_proj_dim"}) {
        CHECK(refused(key, "4") ==
              fmt::format("c.json has '{}' = 4; expected 8, the width of the others", key));
        CHECK(refused(key, "8").empty());
    }
}

TEST_CASE("what is wrong with a config is named") {
    CHECK(fault_of("{}") == "c.json has no 'model_type', which says what the model is; known are " +
                                model_family_text());
    // tests/python/record_test.py runs these lines.
    constexpr struct {
        std::string_view type, more, imports, inputs;
    } kOthers[] = {
        {"mbart", "", "", R"(AutoTokenizer.from_pretrained(".")("TEXT", return_tensors="pt"))"},
        {"mamba", "", "", R"(AutoTokenizer.from_pretrained(".")("TEXT", return_tensors="pt"))"},
        {"swin", R"(,"image_size":32)", "PIL.Image, ",
         R"(AutoImageProcessor.from_pretrained(".")(PIL.Image.open("IMAGE"), return_tensors="pt"))"},
        {"siglip2", R"(,"vision_config":{},"text_config":{})", "PIL.Image, ",
         R"(AutoProcessor.from_pretrained(".")(text=["TEXT"], images=PIL.Image.open("IMAGE"), return_tensors="pt"))"},
        {"speech_to_text", R"(,"num_mel_bins":8,"decoder_start_token_id":1)", "torch, ",
         R"(AutoFeatureExtractor.from_pretrained(".")(SAMPLES, sampling_rate=16000, return_tensors="pt"), )"
         "decoder_input_ids=torch.tensor([[m.config.decoder_start_token_id]])"},
        {"audio-spectrogram-transformer", R"(,"num_mel_bins":8,"patch_size":16)", "",
         R"(AutoFeatureExtractor.from_pretrained(".")(SAMPLES, sampling_rate=16000, return_tensors="pt"))"}};
    for (const auto& other : kOthers)
        CHECK(
            fault_of(fmt::format(R"({{"model_type":"{}"{}}})", other.type, other.more)) ==
            fmt::format("c.json has 'model_type' = \"{}\"; expected one of {}. For another "
                        "model, Python records the attention of one run, which can then be opened: "
                        "import attnscope, "
                        "{}transformers as t; m = t.AutoModel.from_pretrained(\".\"); "
                        "attnscope.record(m, \"attention.npz\").run(**t.{})",
                        other.type, model_family_text(), other.imports, other.inputs));
    CHECK(fault_of("[]") == "c.json is not a JSON object");
    CHECK(fault_of(R"({"model_type":"gpt2","n_embd":24,"n_layer":2,"vocab_size":50})") ==
          "c.json has no 'num_attention_heads'");
    const auto with = [](const char* more) {
        return fault_of(fmt::format("{{{},{}}}", kGpt2, more));
    };
    const auto turned = [](const char* more) {
        return fault_of(fmt::format(R"({{"model_type":"llama",{},{}}})", kSizes, more));
    };
    CHECK(fault_of(R"({"model_type":"llama","hidden_size":6,"num_hidden_layers":1,)"
                   R"("num_attention_heads":3,"num_key_value_heads":2,"vocab_size":9})") ==
          "c.json has 3 heads and 2 key-value heads; expected a divisor");
    CHECK(with(R"("layer_norm_epsilon":-1)") ==
          "c.json has 'layer_norm_epsilon' = -1; expected a number above 0");
    CHECK(with(R"("activation_function":"mish")") ==
          "c.json has 'activation_function' = \"mish\"; expected relu, gelu, gelu_new, "
          "gelu_pytorch_tanh, quick_gelu or silu");
    CHECK(with(R"("scale_attn_by_inverse_layer_idx":true)") ==
          "c.json has 'scale_attn_by_inverse_layer_idx', which is not computed here");
    CHECK(turned(R"("rope_scaling":{"rope_type":"dynamic"})") ==
          "c.json has 'rope_scaling' = {\"rope_type\":\"dynamic\"}; expected type default, linear, "
          "llama3, yarn or longrope: other scaled positions are not computed here");
    CHECK(turned(R"("rope_scaling":[8])") ==
          "c.json has 'rope_scaling' = [8]; expected type default, linear, llama3, yarn or "
          "longrope: other scaled positions are not computed here");
    CHECK(turned(R"("rope_scaling":{"type":"linear"})") == "c.json 'rope_scaling' has no 'factor'");
    CHECK(turned(R"("rope_scaling":{"type":"linear","factor":0})") ==
          "c.json 'rope_scaling' has 'factor' = 0; expected a number above 0");
    CHECK(turned(R"("rope_parameters":{"rope_type":"llama3","factor":8,"low_freq_factor":4,
                  "high_freq_factor":1,"original_max_position_embeddings":8192})") ==
          "c.json 'rope_parameters' has 'low_freq_factor' = 4 and 'high_freq_factor' = 1; expected "
          "the first to be the smaller");
    CHECK(turned(R"("rope_scaling":{"rope_type":"llama3","factor":8})") ==
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

TEST_CASE("a setting of a wrong type is an error with its name, the value and what is expected") {
    // read nowhere, or not where another key says that it does not count
    constexpr std::string_view kNotRead[] = {
        "is_encoder_decoder", "max_window_layers", "original_max_position_embeddings",
        "sliding_window",     "vocab_size",        "projection_dim",
        "image_seq_length"};
    int refused = 0;
    for (const ModelFamily& family : model_families()) {
        const auto golden = must(read_json_file(test::golden_model(family.key) / "config.json"));
        for (const auto& setting : golden.items()) {
            const std::string& key = setting.key();
            if (!is_own_key(family, key) || is_no_setting(key) ||
                std::ranges::find(kNotRead, key) != std::end(kNotRead))
                continue;
            for (const std::string value : {R"("a text")", R"({"a":[1]})", "[[]]"}) {
                if (setting.value().is_object() && value.starts_with('{')) continue;
                auto config = golden;
                config[key] = nlohmann::json::parse(value);
                const std::string fault = fault_of(config.dump());
                CAPTURE(family.key);
                CAPTURE(key);
                CAPTURE(value);
                CAPTURE(fault);
                CHECK(contains(fault, fmt::format("'{}'", key)));
                CHECK(contains(fault, "; expected "));
                ++refused;
            }
        }
    }
    CHECK(refused > 300);
    CHECK(
        fault_of(fmt::format(R"({{{},"eos_token_id":"</s>"}})", kGpt2)) ==
        "c.json has 'eos_token_id' = \"</s>\"; expected the number of a token, or a list of them");
    CHECK(fault_of(fmt::format(R"({{{},"architectures":[2]}})", kGpt2)) ==
          "c.json has 'architectures' = [2]; expected a list of names of classes");
}
