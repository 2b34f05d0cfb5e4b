// config.json of published models of each family: every key is known, and what a row cannot say is refused by its name.
// Layers beside PyTorch's are in torch_test.cpp.
#include <doctest/doctest.h>

#include <cmath>

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
constexpr const char* kQwen3Next =
    R"({"architectures":["Qwen3NextForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
    "bos_token_id":151643,"decoder_sparse_step":1,"eos_token_id":151645,"full_attention_interval":4,"head_dim":256,"hidden_act":"silu",
    "hidden_size":2048,"initializer_range":0.02,"intermediate_size":5120,"linear_conv_kernel_dim":4,"linear_key_head_dim":128,
    "linear_num_key_heads":16,"linear_num_value_heads":32,"linear_value_head_dim":128,"max_position_embeddings":262144,
    "mlp_only_layers":[],"model_type":"qwen3_next","moe_intermediate_size":512,"norm_topk_prob":true,"num_attention_heads":16,
    "num_experts":512,"num_experts_per_tok":10,"num_hidden_layers":48,"num_key_value_heads":2,"output_router_logits":false,
    "partial_rotary_factor":0.25,"rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":10000000,"router_aux_loss_coef":0.001,
    "shared_expert_intermediate_size":512,"tie_word_embeddings":false,"use_cache":true,"vocab_size":151936})";
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

constexpr const char* kQwenMoe =
    R"({"architectures":["Qwen3MoeForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
    "decoder_sparse_step":1,"head_dim":128,"hidden_act":"silu","hidden_size":2048,"intermediate_size":6144,
    "max_position_embeddings":40960,"max_window_layers":48,"mlp_only_layers":[],"model_type":"qwen3_moe",
    "moe_intermediate_size":768,"norm_topk_prob":true,"num_attention_heads":32,"num_experts":128,"num_experts_per_tok":8,
    "num_hidden_layers":48,"num_key_value_heads":4,"output_router_logits":false,"rms_norm_eps":1e-06,"rope_scaling":null,
    "rope_theta":1000000.0,"router_aux_loss_coef":0.001,"sliding_window":null,"tie_word_embeddings":false,
    "use_sliding_window":false,"vocab_size":151936})";
constexpr const char* kDeepSeekLite =
    R"({"architectures":["DeepseekV2ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,"aux_loss_alpha":0.001,
    "bos_token_id":100000,"eos_token_id":100001,"first_k_dense_replace":1,"hidden_act":"silu","hidden_size":2048,
    "intermediate_size":10944,"kv_lora_rank":512,"max_position_embeddings":163840,"model_type":"deepseek_v2",
    "moe_intermediate_size":1408,"moe_layer_freq":1,"n_group":1,"n_routed_experts":64,"n_shared_experts":2,
    "norm_topk_prob":false,"num_attention_heads":16,"num_experts_per_tok":6,"num_hidden_layers":27,"num_key_value_heads":16,
    "q_lora_rank":null,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"rms_norm_eps":1e-06,"rope_scaling":{"beta_fast":32,
    "beta_slow":1,"factor":40,"mscale":0.707,"mscale_all_dim":0.707,"original_max_position_embeddings":4096,"type":"yarn"},
    "rope_theta":10000,"routed_scaling_factor":1.0,"scoring_func":"softmax","seq_aux":true,"tie_word_embeddings":false,
    "topk_group":1,"topk_method":"greedy","v_head_dim":128,"vocab_size":102400})";
constexpr const char* kDeepSeek3 =
    R"({"architectures":["DeepseekV3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,"bos_token_id":0,
    "eos_token_id":1,"ep_size":1,"first_k_dense_replace":3,"hidden_act":"silu","hidden_size":7168,"intermediate_size":18432,
    "kv_lora_rank":512,"max_position_embeddings":163840,"model_type":"deepseek_v3","moe_intermediate_size":2048,
    "moe_layer_freq":1,"n_group":8,"n_routed_experts":256,"n_shared_experts":1,"norm_topk_prob":true,
    "num_attention_heads":128,"num_experts_per_tok":8,"num_hidden_layers":61,"num_key_value_heads":128,
    "num_nextn_predict_layers":1,"q_lora_rank":1536,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"rms_norm_eps":1e-06,
    "rope_scaling":{"beta_fast":32,"beta_slow":1,"factor":40,"mscale":1.0,"mscale_all_dim":1.0,
    "original_max_position_embeddings":4096,"type":"yarn"},"rope_theta":10000,"routed_scaling_factor":2.5,
    "scoring_func":"sigmoid","tie_word_embeddings":false,"topk_group":4,"topk_method":"noaux_tc","v_head_dim":128,
    "vocab_size":129280})";
constexpr const char* kSmol =
    R"({"architectures":["SmolLM3ForCausalLM"],"attention_bias":false,"hidden_act":"silu","hidden_size":2048,
    "intermediate_size":11008,"max_position_embeddings":65536,"max_window_layers":28,"mlp_bias":false,"model_type":"smollm3",
    "no_rope_layer_interval":4,"no_rope_layers":[1,1,1,0,1,1,1,0],"num_attention_heads":16,"num_hidden_layers":8,
    "num_key_value_heads":4,"pretraining_tp":2,"rms_norm_eps":1e-06,"rope_scaling":null,"rope_theta":5000000.0,
    "sliding_window":null,"use_sliding_window":false,"vocab_size":128256})";
constexpr const char* kGemma3Two =
    R"({"architectures":["Gemma3ForConditionalGeneration"],"boi_token_index":255999,"eoi_token_index":256000,
    "eos_token_id":[1,106],"image_token_index":262144,"initializer_range":0.02,"mm_tokens_per_image":256,"model_type":"gemma3",
    "text_config":{"hidden_size":2560,"intermediate_size":10240,"model_type":"gemma3_text","num_hidden_layers":34,
    "rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024},"vision_config":{"hidden_size":1152,
    "image_size":896,"model_type":"siglip_vision_model","num_attention_heads":16,"patch_size":14}})";
constexpr const char* kLlava =
    R"({"architectures":["LlavaForConditionalGeneration"],"ignore_index":-100,"image_token_index":32000,"model_type":"llava",
    "pad_token_id":32001,"projector_hidden_act":"gelu","text_config":{"_name_or_path":"lmsys/vicuna-7b-v1.5",
    "architectures":["LlamaForCausalLM"],"max_position_embeddings":4096,"model_type":"llama","rms_norm_eps":1e-05,
    "torch_dtype":"float16","vocab_size":32064},"tie_word_embeddings":false,"vision_config":{"hidden_size":1024,
    "image_size":336,"intermediate_size":4096,"model_type":"clip_vision_model","num_attention_heads":16,
    "num_hidden_layers":24,"patch_size":14,"projection_dim":768,"vocab_size":32000},"vision_feature_layer":-2,
    "vision_feature_select_strategy":"default","vocab_size":32064})";
constexpr const char* kModernBert =
    R"({"architectures":["ModernBertForMaskedLM"],"attention_bias":false,"classifier_activation":"gelu","classifier_bias":false,
    "classifier_dropout":0.0,"classifier_pooling":"mean","cls_token_id":50281,"decoder_bias":true,
    "deterministic_flash_attn":false,"embedding_dropout":0.0,"global_attn_every_n_layers":3,"global_rope_theta":160000.0,
    "hidden_activation":"gelu","hidden_size":768,"initializer_cutoff_factor":2.0,"intermediate_size":1152,
    "local_attention":128,"local_rope_theta":10000.0,"max_position_embeddings":8192,"mlp_bias":false,"mlp_dropout":0.0,
    "model_type":"modernbert","norm_bias":false,"norm_eps":1e-05,"num_attention_heads":12,"num_hidden_layers":22,
    "reference_compile":null,"tie_word_embeddings":true,"vocab_size":50368})";
constexpr const char* kOpt =
    R"({"_remove_final_layer_norm":false,"activation_dropout":0.0,"activation_function":"relu",
    "architectures":["OPTForCausalLM"],"attention_dropout":0.0,"do_layer_norm_before":true,"dropout":0.1,"ffn_dim":3072,
    "hidden_size":768,"init_std":0.02,"layerdrop":0.0,"max_position_embeddings":2048,"model_type":"opt",
    "num_attention_heads":12,"num_hidden_layers":12,"prefix":"</s>","vocab_size":50272,"word_embed_proj_dim":768})";
constexpr const char* kFalcon =
    R"({"alibi":false,"apply_residual_connection_post_layernorm":false,"architectures":["FalconForCausalLM"],
    "attention_dropout":0.0,"bias":false,"hidden_dropout":0.0,"hidden_size":4544,"layer_norm_epsilon":1e-05,
    "model_type":"falcon","multi_query":true,"new_decoder_architecture":false,"num_attention_heads":71,
    "num_hidden_layers":32,"parallel_attn":true,"vocab_size":65024})";
constexpr const char* kPhi2 =
    R"({"architectures":["PhiForCausalLM"],"attention_dropout":0.0,"embd_pdrop":0.0,"hidden_act":"gelu_new","hidden_size":2560,
    "intermediate_size":10240,"layer_norm_eps":1e-05,"max_position_embeddings":2048,"model_type":"phi",
    "num_attention_heads":32,"num_hidden_layers":32,"num_key_value_heads":32,"partial_rotary_factor":0.4,"qk_layernorm":false,
    "resid_pdrop":0.1,"rope_scaling":null,"rope_theta":10000.0,"tie_word_embeddings":false,"vocab_size":51200})";
constexpr const char* kOlmo =
    R"({"architectures":["OlmoForCausalLM"],"attention_bias":false,"clip_qkv":null,"hidden_act":"silu","hidden_size":2048,
    "intermediate_size":8192,"max_position_embeddings":2048,"model_type":"olmo","num_attention_heads":16,
    "num_hidden_layers":16,"num_key_value_heads":16,"pretraining_tp":1,"rope_scaling":null,"rope_theta":10000.0,
    "tie_word_embeddings":true,"vocab_size":50304})";
constexpr const char* kStarCoder =
    R"({"architectures":["Starcoder2ForCausalLM"],"embedding_dropout":0.1,"hidden_act":"gelu_pytorch_tanh","hidden_size":3072,
    "intermediate_size":12288,"max_position_embeddings":16384,"model_type":"starcoder2","norm_epsilon":1e-05,
    "num_attention_heads":24,"num_hidden_layers":30,"num_key_value_heads":2,"residual_dropout":0.1,"rope_theta":999999.44,
    "sliding_window":4096,"use_bias":true,"vocab_size":49152})";
constexpr const char* kStableLm =
    R"({"architectures":["StableLmForCausalLM"],"hidden_act":"silu","hidden_size":2048,"intermediate_size":5632,
    "layer_norm_eps":1e-05,"max_position_embeddings":4096,"model_type":"stablelm","num_attention_heads":32,
    "num_hidden_layers":24,"num_key_value_heads":32,"partial_rotary_factor":0.25,"rope_theta":10000,
    "tie_word_embeddings":false,"use_qkv_bias":true,"vocab_size":100352})";
constexpr const char* kCohere =
    R"({"architectures":["CohereForCausalLM"],"attention_bias":false,"hidden_act":"silu","hidden_size":8192,
    "intermediate_size":22528,"layer_norm_eps":1e-05,"logit_scale":0.0625,"max_position_embeddings":8192,
    "model_type":"cohere","num_attention_heads":64,"num_hidden_layers":40,"num_key_value_heads":64,"rope_theta":8000000.0,
    "use_qk_norm":false,"vocab_size":256000})";
constexpr const char* kAlbert =
    R"({"architectures":["AlbertForMaskedLM"],"attention_probs_dropout_prob":0,"classifier_dropout_prob":0.1,
    "embedding_size":128,"hidden_act":"gelu_new","hidden_size":768,"inner_group_num":1,"intermediate_size":3072,
    "layer_norm_eps":1e-12,"max_position_embeddings":512,"model_type":"albert","num_attention_heads":12,
    "num_hidden_groups":1,"num_hidden_layers":12,"type_vocab_size":2,"vocab_size":30000})";
constexpr const char* kElectra =
    R"({"architectures":["ElectraForPreTraining"],"embedding_size":128,"hidden_act":"gelu","hidden_size":256,
    "intermediate_size":1024,"layer_norm_eps":1e-12,"max_position_embeddings":512,"model_type":"electra",
    "num_attention_heads":4,"num_hidden_layers":12,"summary_activation":"gelu","summary_last_dropout":0.1,
    "summary_type":"first","summary_use_proj":true,"type_vocab_size":2,"vocab_size":30522})";
constexpr const char* kMpnet =
    R"({"architectures":["MPNetForMaskedLM"],"hidden_act":"gelu","hidden_size":768,"intermediate_size":3072,
    "layer_norm_eps":1e-05,"max_position_embeddings":514,"model_type":"mpnet","num_attention_heads":12,
    "num_hidden_layers":12,"relative_attention_num_buckets":32,"vocab_size":30527})";

constexpr const char* kBart =
    R"({"activation_dropout":0.1,"activation_function":"gelu","architectures":["BartForConditionalGeneration"],
    "attention_dropout":0.1,"classifier_dropout":0.0,"d_model":768,"decoder_attention_heads":12,"decoder_ffn_dim":3072,
    "decoder_layerdrop":0.0,"decoder_layers":6,"decoder_start_token_id":2,"dropout":0.1,"encoder_attention_heads":12,
    "encoder_ffn_dim":3072,"encoder_layerdrop":0.0,"encoder_layers":6,"forced_eos_token_id":2,"init_std":0.02,
    "is_encoder_decoder":true,"max_position_embeddings":1024,"model_type":"bart","scale_embedding":false,"vocab_size":50265})";
constexpr const char* kMarian =
    R"({"activation_dropout":0.0,"activation_function":"swish","architectures":["MarianMTModel"],"attention_dropout":0.0,
    "bad_words_ids":[[58100]],"classif_dropout":0.0,"d_model":512,"decoder_attention_heads":8,"decoder_ffn_dim":2048,
    "decoder_layerdrop":0.0,"decoder_layers":6,"decoder_start_token_id":58100,"decoder_vocab_size":58101,"dropout":0.1,
    "encoder_attention_heads":8,"encoder_ffn_dim":2048,"encoder_layerdrop":0.0,"encoder_layers":6,"forced_eos_token_id":0,
    "init_std":0.02,"is_encoder_decoder":true,"max_position_embeddings":512,"model_type":"marian","scale_embedding":true,
    "share_encoder_decoder_embeddings":true,"vocab_size":58101})";

constexpr const char* kWhisper =
    R"({"activation_function":"gelu","architectures":["WhisperForConditionalGeneration"],"d_model":384,
    "decoder_attention_heads":6,"decoder_ffn_dim":1536,"decoder_layers":4,"encoder_attention_heads":6,"encoder_ffn_dim":1536,
    "encoder_layers":4,"max_source_positions":1500,"max_target_positions":448,"model_type":"whisper","num_mel_bins":80,
    "vocab_size":51865})";

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
    for (const char* text :
         {kPythia,  kPhi3,    kGemma2, kGemma3, kOlmo2,   kGranite,      kMixtral,   kOss,
          kRoberta, kDistil,  kDeit,   kDino,   kQwenMoe, kSmol,         kGemma3Two, kModernBert,
          kLlava,   kOpt,     kFalcon, kPhi2,   kOlmo,    kStarCoder,    kStableLm,  kCohere,
          kAlbert,  kElectra, kMpnet,  kBart,   kMarian,  kDeepSeekLite, kDeepSeek3, kQwen3Next}) {
        CAPTURE(text);
        const auto config = must(parse_model_config(text, "c.json"));
        CHECK(fmt::format("{}", fmt::join(config.unknown, " ")).empty());
        const bool phi3 = config.family->key == "phi3";  // its class has no such bias
        CHECK(fmt::format("{}", fmt::join(config.ignored, " ")) == (phi3 ? "attention_bias" : ""));
    }
}

TEST_CASE("a published decoder of texts with an image and its tower have their classes' defaults") {
    const auto both = [](const std::string& text) {
        return std::pair(must(parse_model_config(text, "c.json")),
                         must(parse_model_config(text, "c.json", Stack::second)));
    };
    const auto [decoder, tower] = both(kLlava);
    CHECK(decoder.width == 4096);
    CHECK(decoder.layers == 32);
    CHECK(decoder.vocabulary == 32064);
    CHECK(decoder.epsilon == 1e-5);
    CHECK(decoder.other_task.empty());
    CHECK(decoder.image_prompt->token == 32000);
    CHECK(tower.image->side() == 24);
    CHECK(tower.layers == 24);
    CHECK(tower.activation == Activation::quick_gelu);
    CHECK(tower.image_prompt->layers == std::vector<Index>{23});  // read by the last block
    CHECK(tower.image_prompt->drops_class);
    CHECK(tower.unknown.empty());
    CHECK(tower.ignored.empty());
    const auto without = [](const char* part) {
        std::string text(kLlava);
        text.replace(text.find(part), std::string(part).size(), "");
        return text;
    };
    CHECK(both(without(R"("model_type":"llama",)")).first.kv_heads == 32);
    CHECK(both(without(R"("image_token_index":32000,)")).first.image_prompt->token == 32000);
    CHECK(both(without(R"("vision_feature_layer":-2,)")).second.image_prompt->layers.front() == 23);
    std::string mistral(kLlava);
    mistral.replace(mistral.find("\"llama\""), 7, "\"mistral\"");
    CHECK(both(mistral).first.kv_heads == 8);
    CHECK(both(mistral).first.window == 4096);
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
    std::string without(kOss);  // its class has YaRN × 32 where nothing is stated
    const auto scaling = without.find("\"rope_scaling\"");
    without.replace(scaling, without.find("},", scaling) + 2 - scaling, "");
    CHECK(spec(without.c_str(), 1).rope->scaling.factor == 32.0);
    CHECK(spec(without.c_str(), 1).rope->scaling.low == spec(kOss, 1).rope->scaling.low);
    CHECK_FALSE(spec(kRoberta, 0).mask.causal);
    CHECK(spec(kSmol, 2).rope->base == 5e6);
    CHECK_FALSE(spec(kSmol, 3).rope);
    CHECK_FALSE(spec(kModernBert, 0).mask.window_left);
    CHECK(spec(kModernBert, 0).rope->base == 160000.0);
    CHECK(spec(kModernBert, 1).mask.window_left == 64);
    CHECK(spec(kModernBert, 1).mask.window_right == 64);
    CHECK(spec(kModernBert, 1).rope->base == 10000.0);
    CHECK(spec(kGemma3Two, 0).mask.window_left == 1023);
    CHECK(spec(kGemma3Two, 5).rope->scaling.factor == 8.0);
    CHECK(spec(kGemma3Two, 5).heads == 8);
    CHECK(spec(kFalcon, 0).kv_heads == 1);
    CHECK(spec(kPhi2, 0).rope->dims == 32);
    CHECK(spec(kStarCoder, 0).mask.window_left == 4095);
    CHECK(spec(kStableLm, 0).rope->dims == 16);
    CHECK(spec(kCohere, 0).rope->pairs == RopePairs::interleaved);
    CHECK(spec(kMpnet, 0).score == Score::relative);
    CHECK(spec(kDeepSeekLite, 0).rope->dims == 64);
    CHECK(spec(kDeepSeekLite, 0).scale == ScaleKind::sqrt_dk);  // 128 + 64
    CHECK(spec(kDeepSeek3, 0).rope->pairs == RopePairs::interleaved);
    const double by = 0.1 * std::log(40.0) + 1.0;
    CHECK(spec(kDeepSeek3, 0).scale_value == doctest::Approx(by * by / std::sqrt(192.0)));
    const ModelConfig large = must(parse_model_config(kDeepSeek3, "c.json"));
    CHECK(large.has_experts(3));
    CHECK_FALSE(large.has_experts(2));
    CHECK(large.columns_of_value() == 128);
    CHECK(spec(kQwen3Next, 3).rope->dims == 64);
    CHECK(spec(kQwen3Next, 3).heads == 16);
    CHECK(spec(kQwen3Next, 4).heads == 32);  // of linear attention
    CHECK_FALSE(spec(kQwen3Next, 4).rope);
}

TEST_CASE("wrong settings of an image among the tokens of a text are refused by name") {
    const auto second = [](std::string text, std::string_view from, std::string_view to) {
        text.replace(text.find(from), from.size(), to);
        return sentence_in(parse_model_config(text, "c.json", Stack::second));
    };
    CHECK(fault_with(kLlava, "image_token_index", "40000") ==
          "c.json 'text_config' has 'vocab_size' = 32064; expected more than the number of the "
          "image token, 40000");
    CHECK(fault_with(kLlava, "image_token_id", "5") ==
          "c.json has 'image_token_id' = 5; expected 32000, as 'image_token_index'");
    CHECK(
        fault_with(kLlava, "vision_feature_select_strategy", "\"cls\"") ==
        "c.json has 'vision_feature_select_strategy' = \"cls\"; expected \"default\" or \"full\"");
    CHECK(fault_with(kLlava, "vision_feature_layer", "[]") ==
          "c.json has 'vision_feature_layer' = []; expected the number of a layer, or a list of "
          "them");
    CHECK(fault_with(kLlava, "vision_config", "null") ==
          "c.json has no 'vision_config'; expected that of the tower which reads images");
    CHECK(second(kLlava, R"("vision_feature_layer":-2)", R"("vision_feature_layer":-26)") ==
          "c.json 'vision_config' has 24 layers, and 'vision_feature_layer' is -26; expected -25 "
          "to 24");
    CHECK(second(kLlava, "clip_vision_model", "pixtral") ==
          "c.json 'vision_config' has 'model_type' = \"pixtral\"; expected one of "
          "clip_vision_model, siglip_vision_model");
    CHECK(second(kLlava, "clip_vision_model", "siglip_vision_model") ==
          "c.json 'vision_config' has no class token, and 'vision_feature_select_strategy' is "
          "\"default\", which leaves one out; expected \"full\"");
    CHECK(fault_with(kLlava, "text_config", R"({"model_type":"gemma"})") ==
          "c.json 'text_config' has 'model_type' = \"gemma\"; expected one of llama, mistral, "
          "qwen2");
}

TEST_CASE("what a row cannot say is refused by its name") {
    CHECK(fault_with(kDeepSeek3, "n_group", "7") ==
          "c.json takes 8 of 256 experts from 4 of 7 groups; expected groups of equal size, at "
          "least 2, with enough experts");
    CHECK(fault_with(kDeepSeek3, "num_key_value_heads", "64") ==
          "c.json has 'num_key_value_heads' = 64; expected 128, as query heads");
    CHECK(fault_with(kDeepSeek3, "scoring_func", "\"softmax\"") ==
          "c.json has 'scoring_func' = \"softmax\"; expected \"sigmoid\"");
    CHECK(fault_with(kDeepSeekLite, "norm_topk_prob", "true") ==
          "c.json has 'norm_topk_prob' = true; expected false: transformers ignores it");
    CHECK(fault_with(kDeepSeekLite, "topk_method", "\"noaux_tc\"") ==
          "c.json has 'topk_method' = \"noaux_tc\"; expected \"group_limited_greedy\" or "
          "\"greedy\"");
    CHECK(fault_with(kDeepSeekLite, "qk_rope_head_dim", "63") ==
          "c.json has a 'qk_rope_head_dim' of 63 in heads of 319; expected an even number in "
          "heads of at most 2147483648");
    CHECK(fault_with(kQwen3Next, "linear_num_key_heads", "5") ==
          "c.json has 'linear_num_value_heads' = 32 and 'linear_num_key_heads' = 5; expected a "
          "divisor");
    CHECK(
        fault_with(kQwen3Next, "layer_types", R"(["full_attention"])") ==
        "c.json has 'layer_types' = [\"full_attention\"]; expected one type for each of 48 layers");
    CHECK(fault_with(kQwen3Next, "rope_scaling",
                     R"({"type":"linear","factor":2,"partial_rotary_factor":0.5})") ==
          "c.json has 'partial_rotary_factor' = 0.5 for scaled positions; expected 0.25, the one "
          "of config.json");
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
          "bitsandbytes with 'load_in_8bit': other quantised weights are not read here");
    CHECK(fault_with(kRoberta, "is_decoder", "true") ==
          "c.json has 'is_decoder' = true; expected false: it is computed as an encoder");
    CHECK(fault_with(kOpt, "do_layer_norm_before", "false") ==
          "c.json has 'do_layer_norm_before' = false; expected true: it is not computed here");
    CHECK(fault_with(kOpt, "word_embed_proj_dim", "512") ==
          "c.json has 'word_embed_proj_dim' = 512; expected 768, the width of the others");
    CHECK(fault_with(kFalcon, "alibi", "true") ==
          "c.json has 'alibi' = true; expected none: it is not computed here");
    CHECK(fault_with(kFalcon, "num_ln_in_parallel_attn", "2") ==
          "c.json has 'num_ln_in_parallel_attn' = 2; expected 1, or 2 with "
          "'new_decoder_architecture'");
    CHECK(fault_with(kCohere, "use_qk_norm", "true") ==
          "c.json has 'use_qk_norm' = true; expected none: it is not computed here");
    CHECK(fault_with(kOlmo, "clip_qkv", "8.0") ==
          "c.json has 'clip_qkv' = 8.0; expected none: it is not computed here");
    CHECK(fault_with(kStableLm, "head_dim", "32") ==
          "c.json has 'head_dim' = 32; expected 64, the width / the heads");
    CHECK(fault_with(kWhisper, "num_key_value_heads", "6").empty());
    CHECK(fault_with(kWhisper, "num_key_value_heads", "1") ==
          "c.json has 'num_key_value_heads' = 1; expected 6, as 'encoder_attention_heads'");
    CHECK(fault_with(kAlbert, "inner_group_num", "2") ==
          "c.json has 'inner_group_num' = 2; expected 1");
    CHECK(fault_with(kAlbert, "num_hidden_groups", "13") ==
          "c.json has 'num_hidden_groups' = 13; expected at most 12 layers");
    CHECK(fault_with(kBart, "tie_word_embeddings", "false") ==
          "c.json has 'tie_word_embeddings' = false; expected true: encoder and decoder would have "
          "separate embedding tables");
    CHECK(fault_with(kBart, "is_decoder", "true") ==
          "c.json has 'is_decoder' = true; expected false: it has two stacks");
    CHECK(fault_with(kMarian, "share_encoder_decoder_embeddings", "false") ==
          "c.json has 'share_encoder_decoder_embeddings' = false; expected true: two tables of "
          "embeddings are not read here");
    CHECK(fault_with(kMpnet, "relative_attention_num_buckets", "16") ==
          "c.json has 'relative_attention_num_buckets' = 16; expected 32: MPNet has "
          "32 buckets of distances");
    CHECK(fault_with(kSmol, "no_rope_layers", "[1,0]") ==
          "c.json has 'no_rope_layers' = [1,0]; expected 0 or 1 for each of 8 layers");
    CHECK(
        fault_with(kSmol, "layer_types", R"(["sliding_attention"])") ==
        "c.json has 'layer_types' = [\"sliding_attention\"]; expected 'sliding_window' beside it, "
        "or no layer with a window");
    CHECK(fault_with(kModernBert, "sliding_window", "64") ==
          "c.json has 'sliding_window' = 64; expected none: 'local_attention' has the window");
    CHECK(fault_with(kGemma3, "sliding_window_pattern", "0") ==
          "c.json has 'sliding_window_pattern' = 0; expected a whole number from 1 to 2147483648");
}
