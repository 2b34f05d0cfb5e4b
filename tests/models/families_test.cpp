// config.json of published models of each family: every key is known, and what a row cannot say is refused by its name.
// Layers beside PyTorch's are in torch_test.cpp.
#include <doctest/doctest.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/models/family.h"
#include "core/models/model.h"
#include "tests/support/results.h"

using namespace attn;

namespace {

// As published, less what no model computes with.
constexpr const char* kPythia =
    R"({"architectures":["GPTNeoXForCausalLM"],"bos_token_id":0,"eos_token_id":0,"hidden_act":"gelu",
    "hidden_size":512,"initializer_range":0.02,"intermediate_size":2048,"layer_norm_eps":1e-05,"max_position_embeddings":2048,
    "model_type":"gpt_neox","num_attention_heads":8,"num_hidden_layers":6,"rotary_emb_base":10000,"rotary_pct":0.25,
    "tie_word_embeddings":false,"torch_dtype":"float16","transformers_version":"4.24.0","use_cache":true,
    "use_parallel_residual":true,"vocab_size":50304})";
constexpr const char* kPhi3 =
    R"({"architectures":["Phi3ForCausalLM"],"attention_dropout":0.0,"bos_token_id":1,"embd_pdrop":0.0,
    "eos_token_id":32000,"hidden_act":"silu","hidden_size":3072,"initializer_range":0.02,"intermediate_size":8192,
    "max_position_embeddings":4096,"model_type":"phi3","num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,
    "original_max_position_embeddings":4096,"pad_token_id":32000,"resid_pdrop":0.0,"rms_norm_eps":1e-05,"rope_scaling":null,
    "rope_theta":10000.0,"sliding_window":2047,"tie_word_embeddings":false,"use_cache":true,"attention_bias":false,
    "vocab_size":32064})";
constexpr const char* kGemma2 =
    R"({"architectures":["Gemma2ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
    "attn_logit_softcapping":50.0,"bos_token_id":2,"cache_implementation":"hybrid","eos_token_id":1,"final_logit_softcapping":30.0,
    "head_dim":256,"hidden_activation":"gelu_pytorch_tanh","hidden_size":2304,"initializer_range":0.02,"intermediate_size":9216,
    "max_position_embeddings":8192,"model_type":"gemma2","num_attention_heads":8,"num_hidden_layers":26,"num_key_value_heads":4,
    "pad_token_id":0,"query_pre_attn_scalar":256,"rms_norm_eps":1e-06,"rope_theta":10000.0,"sliding_window":4096,
    "use_cache":true,"vocab_size":256000})";
constexpr const char* kGemma3 =
    R"({"architectures":["Gemma3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
    "attn_logit_softcapping":null,"cache_implementation":"hybrid","final_logit_softcapping":null,"head_dim":256,
    "hidden_activation":"gelu_pytorch_tanh","hidden_size":1152,"intermediate_size":6912,"max_position_embeddings":32768,
    "model_type":"gemma3_text","num_attention_heads":4,"num_hidden_layers":26,"num_key_value_heads":1,"query_pre_attn_scalar":256,
    "rms_norm_eps":1e-06,"rope_local_base_freq":10000,"rope_scaling":null,"rope_theta":1000000,"sliding_window":512,
    "sliding_window_pattern":6,"vocab_size":262144})";
constexpr const char* kOlmo2 =
    R"({"architectures":["Olmo2ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
    "eos_token_id":100257,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,"max_position_embeddings":4096,
    "model_type":"olmo2","num_attention_heads":16,"num_hidden_layers":16,"num_key_value_heads":16,"pad_token_id":100277,
    "rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":500000,"tie_word_embeddings":false,"vocab_size":100352})";
constexpr const char* kGranite =
    R"({"architectures":["GraniteForCausalLM"],"attention_bias":false,"attention_dropout":0.1,
    "attention_multiplier":0.015625,"embedding_multiplier":12.0,"hidden_act":"silu","hidden_size":2048,"intermediate_size":8192,
    "logits_scaling":8.0,"max_position_embeddings":4096,"mlp_bias":false,"model_type":"granite","num_attention_heads":32,
    "num_hidden_layers":40,"num_key_value_heads":8,"residual_multiplier":0.22,"rms_norm_eps":1e-05,"rope_scaling":null,
    "rope_theta":10000,"tie_word_embeddings":true,"vocab_size":49152})";
constexpr const char* kMixtral =
    R"({"architectures":["MixtralForCausalLM"],"attention_dropout":0.0,"hidden_act":"silu",
    "hidden_size":4096,"intermediate_size":14336,"max_position_embeddings":32768,"model_type":"mixtral","num_attention_heads":32,
    "num_experts_per_tok":2,"num_hidden_layers":32,"num_key_value_heads":8,"num_local_experts":8,"output_router_logits":false,
    "rms_norm_eps":1e-05,"rope_theta":1000000.0,"router_aux_loss_coef":0.02,"sliding_window":null,"tie_word_embeddings":false,
    "vocab_size":32000})";
constexpr const char* kOss =
    R"({"architectures":["GptOssForCausalLM"],"attention_bias":true,"attention_dropout":0.0,
    "head_dim":64,"hidden_act":"silu","hidden_size":2880,"initial_context_length":4096,"intermediate_size":2880,
    "max_position_embeddings":131072,"model_type":"gpt_oss","num_attention_heads":64,"num_experts_per_tok":4,
    "num_hidden_layers":24,"num_key_value_heads":8,"num_local_experts":32,"output_router_logits":false,"rms_norm_eps":1e-05,
    "rope_scaling":{"beta_fast":32.0,"beta_slow":1.0,"factor":32.0,"original_max_position_embeddings":4096,
    "rope_type":"yarn","truncate":false},"rope_theta":150000,"router_aux_loss_coef":0.9,"sliding_window":128,"swiglu_limit":7.0,
    "tie_word_embeddings":false,"vocab_size":201088})";
constexpr const char* kRoberta =
    R"({"architectures":["RobertaForMaskedLM"],"attention_probs_dropout_prob":0.1,"bos_token_id":0,
    "eos_token_id":2,"hidden_act":"gelu","hidden_dropout_prob":0.1,"hidden_size":768,"intermediate_size":3072,
    "layer_norm_eps":1e-05,"max_position_embeddings":514,"model_type":"roberta","num_attention_heads":12,"num_hidden_layers":12,
    "pad_token_id":1,"position_embedding_type":"absolute","type_vocab_size":1,"vocab_size":50265})";
constexpr const char* kDistil =
    R"({"activation":"gelu","architectures":["DistilBertForMaskedLM"],"attention_dropout":0.1,"dim":768,
    "dropout":0.1,"hidden_dim":3072,"initializer_range":0.02,"max_position_embeddings":512,"model_type":"distilbert","n_heads":12,
    "n_layers":6,"pad_token_id":0,"qa_dropout":0.1,"seq_classif_dropout":0.2,"sinusoidal_pos_embds":false,"tie_weights_":true,
    "vocab_size":30522})";
constexpr const char* kDeit =
    R"({"architectures":["DeiTForImageClassification"],"attention_probs_dropout_prob":0.0,
    "encoder_stride":16,"hidden_act":"gelu","hidden_size":768,"image_size":224,"intermediate_size":3072,"layer_norm_eps":1e-12,
    "model_type":"deit","num_attention_heads":12,"num_channels":3,"num_hidden_layers":12,"patch_size":16,"qkv_bias":true})";
constexpr const char* kDino =
    R"({"apply_layernorm":true,"architectures":["Dinov2Model"],"attention_probs_dropout_prob":0.0,
    "drop_path_rate":0.0,"hidden_act":"gelu","hidden_size":768,"image_size":518,"layer_norm_eps":1e-06,"layerscale_value":1.0,
    "mlp_ratio":4,"model_type":"dinov2","num_attention_heads":12,"num_channels":3,"num_hidden_layers":12,"out_features":["stage12"],
    "out_indices":[12],"patch_size":14,"qkv_bias":true,"reshape_hidden_states":true,"stage_names":["stem"],"use_swiglu_ffn":false})";

/// With one key more, or another value of it.
std::string fault_with(const char* config, const std::string& key, const std::string& value) {
    std::string text(config);
    text.insert(1, fmt::format(R"("{}":{},)", key, value));
    if (const auto second = text.find(fmt::format("\"{}\":", key), key.size() + 4);
        second != std::string::npos)
        text.replace(second, key.size() + 2, "\"_name_or_path\"");  // a key stands once
    return sentence_in(parse_model_config(text, "c.json"));
}

}  // namespace

TEST_CASE("every key of a published config.json is known") {
    for (const char* text : {kPythia, kPhi3, kGemma2, kGemma3, kOlmo2, kGranite, kMixtral, kOss,
                             kRoberta, kDistil, kDeit, kDino}) {
        CAPTURE(text);
        const auto config = must(parse_model_config(text, "c.json"));
        CHECK(fmt::format("{}", fmt::join(config.unknown, " ")).empty());
        const bool phi3 = config.family->key == "phi3";  // its class has no such bias
        CHECK(fmt::format("{}", fmt::join(config.ignored, " ")) == (phi3 ? "attention_bias" : ""));
    }
}

TEST_CASE("what published configurations say reaches the layers") {
    const auto spec = [](const char* text, Index layer) {
        return layer_spec(must(parse_model_config(text, "c.json")), layer);
    };
    CHECK(spec(kPythia, 0).rope->dims == 16);
    CHECK(spec(kPhi3, 31).mask.window_left == 2046);
    CHECK(spec(kGemma2, 0).mask.window_left == 4095);
    CHECK_FALSE(spec(kGemma2, 1).mask.window_left);
    CHECK(spec(kGemma2, 1).softcap == 50.0);
    CHECK(spec(kGemma2, 1).scale == ScaleKind::sqrt_dk);  // 256 is d_k
    CHECK(spec(kGemma3, 4).rope->base == 10000.0);
    CHECK(spec(kGemma3, 4).mask.window_left == 511);
    CHECK(spec(kGemma3, 5).rope->base == 1e6);
    CHECK_FALSE(spec(kGemma3, 5).mask.window_left);
    CHECK(spec(kGranite, 0).scale_value == 0.015625);
    CHECK(spec(kOss, 0).mask.window_left == 127);
    CHECK(spec(kOss, 1).rope->scaling.kind == RopeScale::yarn);
    CHECK_FALSE(spec(kRoberta, 0).mask.causal);
}

TEST_CASE("what a row cannot say is refused by its name") {
    CHECK(fault_with(kGemma2, "use_bidirectional_attention", "true") ==
          "c.json has 'use_bidirectional_attention', which is not computed here");
    CHECK(fault_with(kDino, "use_swiglu_ffn", "true") ==
          "c.json has 'use_swiglu_ffn', which is not computed here");
    for (const char* times : {"1e+300", "1e-05"})
        CHECK(fault_with(kDino, "mlp_ratio", times) ==
              fmt::format("c.json has 'mlp_ratio' = {}; expected a number that makes a hidden "
                          "width from 1 to 2147483648",
                          times));
    CHECK(fault_with(kMixtral, "num_experts_per_tok", "9") ==
          "c.json has 'num_experts_per_tok' = 9; expected at most 8");
    CHECK(fault_with(kOss, "swiglu_limit", "5.0") ==
          "c.json has 'swiglu_limit' = 5.0; expected 7: another is not computed here");
    CHECK(fault_with(kPythia, "rotary_pct", "0.05") ==
          "c.json turns 3 of a head's 64 columns; expected an even number of them");
    CHECK(fault_with(kPythia, "rotary_pct", "1.5") ==
          "c.json turns 96 of a head's 64 columns; expected an even number of them");
    CHECK(fault_with(kOlmo2, "embedding_multiplier", "2") ==
          "c.json has 'embedding_multiplier' = 2; expected 1: it is not computed here");
    CHECK(fault_with(kMixtral, "moe_intermediate_size", "2") ==
          "c.json has 'moe_intermediate_size' = 2; expected none: it is not computed here");
    CHECK(fault_with(kOss, "quantization_config", R"({"quant_method":"mxfp4"})") ==
          "c.json has 'quantization_config' = {\"quant_method\":\"mxfp4\"}; expected none, or "
          "bitsandbytes with 'load_in_8bit': other weights that are codes are not read here");
    CHECK(fault_with(kRoberta, "is_decoder", "true") ==
          "c.json has 'is_decoder' = true; expected false: it is computed as an encoder");
    CHECK(fault_with(kGemma3, "sliding_window_pattern", "0") ==
          "c.json has 'sliding_window_pattern' = 0; expected a whole number from 1 to 2147483648");
}
