// From the configuration classes of Hugging Face's transformers, 4.57, and of models with code of their own.

#include "core/models/config_keys.h"

#include <algorithm>

#include "core/models/family.h"

namespace attn {
namespace {

constexpr std::string_view
    kOfGpt2 = "gpt2",
    kOfDistil = "distilbert",
    kOfKeyValueHeads =
        "deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 granite "
        "mixtral gpt_oss qwen3_moe "
        "qwen2_moe smollm3 olmo olmo3 phi starcoder2 stablelm cohere whisper",
    kOfTurned =
        "deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 granite "
        "mixtral gpt_oss "
        "gpt_neox qwen3_moe qwen2_moe smollm3 olmo olmo3 phi starcoder2 stablelm cohere falcon "
        "modernbert",
    kOfRmsNorms =
        "deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 granite "
        "mixtral gpt_oss qwen3_moe "
        "qwen2_moe smollm3 olmo3",
    kOfGemma = "gemma2 gemma3_text",
    kOfLayerNorms =
        "siglip siglip_vision_model bert roberta xlm-roberta megatron-bert vit deit dinov2 "
        "use_lite gpt_neox clip phi "
        "stablelm cohere mpnet albert electra dinov2_with_registers",
    kOfTexts = "bert roberta xlm-roberta megatron-bert use_lite electra albert",
    kOfImages = "vit deit dinov2 dinov2_with_registers",
    kOfSizedImages = "siglip siglip_vision_model vit deit dinov2 clip dinov2_with_registers",
    kOfDino = "dinov2 dinov2_with_registers",
    kOfExperts = "mixtral gpt_oss qwen3_moe qwen2_moe deepseek_v2 deepseek_v3",
    kOfQwenExperts = "qwen3_moe qwen2_moe", kOfDeepSeek = "deepseek_v2 deepseek_v3",
    kOfT5 = "t5 mt5", kOfOpt = "opt", kOfFalcon = "falcon", kOfModernBert = "modernbert",
    kOfSmol = "smollm3", kOfMapped = "albert electra", kOfBart = "bart marian whisper",
    kOfWhisper = "whisper";

/// Whose they are.
constexpr struct {
    std::string_view key, families;
} kOwnedKeys[] = {
    {"activation_function", "gpt2 opt bart marian whisper"},
    {"layer_norm_epsilon", "gpt2 t5 mt5 falcon"},
    {"n_embd", kOfGpt2},
    {"n_head", kOfGpt2},
    {"n_inner", kOfGpt2},
    {"n_layer", kOfGpt2},
    {"n_positions", kOfGpt2},
    {"reorder_and_upcast_attn", kOfGpt2},
    {"scale_attn_by_inverse_layer_idx", kOfGpt2},
    {"scale_attn_weights", kOfGpt2},
    {"activation", "distilbert falcon"},
    {"dim", kOfDistil},
    {"hidden_dim", kOfDistil},
    {"n_heads", kOfDistil},
    {"n_layers", kOfDistil},
    {"hidden_act",
     "siglip siglip_vision_model deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 olmo2 "
     "granite mixtral gpt_oss "
     "gpt_neox bert roberta "
     "xlm-roberta megatron-bert vit deit dinov2 use_lite clip qwen3_moe qwen2_moe smollm3 olmo "
     "olmo3 phi starcoder2 stablelm cohere mpnet albert electra dinov2_with_registers"},
    {"intermediate_size",
     "siglip siglip_vision_model deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 "
     "gemma3_text olmo2 granite "
     "mixtral gpt_oss gpt_neox "
     "bert "
     "roberta xlm-roberta megatron-bert vit deit use_lite clip qwen3_moe qwen2_moe smollm3 olmo "
     "olmo3 phi starcoder2 stablelm cohere modernbert mpnet albert electra"},
    {"attention_bias",
     "deepseek_v2 deepseek_v3 llama qwen3 gemma2 gemma3_text olmo2 granite gpt_oss gpt_neox "
     "qwen3_moe smollm3 olmo olmo3 "
     "cohere modernbert"},
    {"head_dim",
     "deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 granite "
     "mixtral gpt_oss qwen3_moe "
     "qwen2_moe smollm3 olmo olmo3 phi starcoder2 stablelm cohere falcon modernbert"},
    {"mlp_bias", "deepseek_v2 llama granite smollm3 modernbert"},
    {"num_key_value_heads", kOfKeyValueHeads},
    {"rms_norm_eps", kOfRmsNorms},
    {"rope_parameters", kOfTurned},
    {"rope_scaling", kOfTurned},
    {"rope_theta",
     "deepseek_v2 deepseek_v3 llama mistral qwen2 qwen3 phi3 gemma2 gemma3_text olmo2 granite "
     "mixtral gpt_oss qwen3_moe "
     "qwen2_moe smollm3 olmo olmo3 phi starcoder2 stablelm cohere falcon"},
    {"original_max_position_embeddings", kOfTurned},
    {"layer_types", "qwen2 qwen3 gemma2 gemma3_text gpt_oss qwen2_moe smollm3 olmo3 modernbert"},
    {"max_window_layers", "qwen2 qwen3 qwen2_moe qwen3_moe smollm3"},
    {"sliding_window",
     "mistral qwen2 qwen3 phi3 gemma2 gemma3_text mixtral gpt_oss qwen3_moe qwen2_moe smollm3 "
     "olmo3 "
     "starcoder2 modernbert"},
    {"use_sliding_window", "qwen2 qwen3 qwen3_moe qwen2_moe smollm3"},
    {"partial_rotary_factor", "phi3 phi stablelm"},
    {"rotary_emb_base", "gpt_neox"},
    {"rotary_pct", "gpt_neox"},
    {"use_parallel_residual", "gpt_neox stablelm"},
    {"attn_logit_softcapping", kOfGemma},
    {"final_logit_softcapping", kOfGemma},
    {"hidden_activation", "gemma2 gemma3_text modernbert"},
    {"query_pre_attn_scalar", kOfGemma},
    {"use_bidirectional_attention", kOfGemma},
    {"rope_local_base_freq", "gemma3_text"},
    {"sliding_window_pattern", "gemma3_text"},
    {"attention_multiplier", "granite"},
    {"embedding_multiplier", "granite"},
    {"logits_scaling", "granite"},
    {"residual_multiplier", "granite"},
    {"num_experts_per_tok", kOfExperts},
    {"num_local_experts", "mixtral gpt_oss qwen3_moe"},
    {"num_experts", kOfQwenExperts},
    {"norm_topk_prob", "qwen3_moe qwen2_moe deepseek_v2 deepseek_v3"},
    {"moe_intermediate_size", "qwen3_moe qwen2_moe deepseek_v2 deepseek_v3"},
    {"mlp_only_layers", kOfQwenExperts},
    {"decoder_sparse_step", kOfQwenExperts},
    {"shared_expert_intermediate_size", "qwen2_moe"},
    {"q_lora_rank", kOfDeepSeek},
    {"kv_lora_rank", kOfDeepSeek},
    {"qk_nope_head_dim", kOfDeepSeek},
    {"qk_rope_head_dim", kOfDeepSeek},
    {"v_head_dim", kOfDeepSeek},
    {"first_k_dense_replace", kOfDeepSeek},
    {"n_routed_experts", kOfDeepSeek},
    {"n_shared_experts", kOfDeepSeek},
    {"n_group", kOfDeepSeek},
    {"topk_group", kOfDeepSeek},
    {"topk_method", kOfDeepSeek},
    {"routed_scaling_factor", kOfDeepSeek},
    {"scoring_func", kOfDeepSeek},
    {"moe_layer_freq", kOfDeepSeek},
    {"qk_head_dim", "deepseek_v3"},
    {"rope_interleave", "deepseek_v3"},
    {"full_attention_interval", "qwen3_next"},
    {"linear_conv_kernel_dim", "qwen3_next"},
    {"linear_key_head_dim", "qwen3_next"},
    {"linear_num_key_heads", "qwen3_next"},
    {"linear_num_value_heads", "qwen3_next"},
    {"linear_value_head_dim", "qwen3_next"},
    {"no_rope_layers", kOfSmol},
    {"no_rope_layer_interval", kOfSmol},
    {"use_bias", "starcoder2"},
    {"norm_epsilon", "starcoder2"},
    {"use_qkv_bias", "stablelm"},
    {"qk_layernorm", "phi"},
    {"logit_scale", "cohere"},
    {"new_decoder_architecture", kOfFalcon},
    {"multi_query", kOfFalcon},
    {"parallel_attn", kOfFalcon},
    {"num_kv_heads", kOfFalcon},
    {"num_ln_in_parallel_attn", kOfFalcon},
    {"ffn_hidden_size", kOfFalcon},
    {"bias", kOfFalcon},
    {"ffn_dim", kOfOpt},
    {"enable_bias", kOfOpt},
    {"do_layer_norm_before", kOfOpt},
    {"layer_norm_elementwise_affine", kOfOpt},
    {"_remove_final_layer_norm", kOfOpt},
    {"norm_eps", kOfModernBert},
    {"norm_bias", kOfModernBert},
    {"local_attention", kOfModernBert},
    {"global_attn_every_n_layers", kOfModernBert},
    {"global_rope_theta", kOfModernBert},
    {"local_rope_theta", kOfModernBert},
    {"encoder_layers", kOfBart},
    {"decoder_layers", kOfBart},
    {"encoder_attention_heads", kOfBart},
    {"decoder_attention_heads", kOfBart},
    {"encoder_ffn_dim", kOfBart},
    {"decoder_ffn_dim", kOfBart},
    {"scale_embedding", kOfBart},
    {"share_encoder_decoder_embeddings", "marian"},
    {"decoder_vocab_size", "marian"},
    {"num_mel_bins", kOfWhisper},
    {"max_source_positions", kOfWhisper},
    {"max_target_positions", kOfWhisper},
    {"embedding_size", kOfMapped},
    {"num_hidden_groups", "albert"},
    {"inner_group_num", "albert"},
    {"num_register_tokens", "dinov2_with_registers"},
    {"swiglu_limit", "gpt_oss"},
    {"is_decoder",
     "bert roberta xlm-roberta megatron-bert use_lite electra albert bart marian whisper"},
    {"layer_norm_eps", kOfLayerNorms},
    {"position_embedding_type", kOfTexts},
    {"type_vocab_size", kOfTexts},
    {"image_size", kOfSizedImages},
    {"num_channels", kOfSizedImages},
    {"patch_size", kOfSizedImages},
    {"qkv_bias", "vit deit dinov2 dinov2_with_registers qwen2_moe"},
    {"mlp_ratio", kOfDino},
    {"use_swiglu_ffn", kOfDino},
    {"projection_dim", "clip"},
    {"projection_size", "siglip"},
    {"vision_use_head", "siglip siglip_vision_model"},
    {"text_config", "clip siglip gemma3 llava"},
    {"text_config_dict", "clip"},
    {"vision_config", "clip siglip gemma3 llava"},
    {"vision_config_dict", "clip"},
    {"image_seq_length", "llava"},
    {"multimodal_projector_bias", "llava"},
    {"projector_hidden_act", "llava"},
    {"vision_feature_layer", "llava"},
    {"vision_feature_select_strategy", "llava"},
    {"d_ff", kOfT5},
    {"d_kv", kOfT5},
    {"d_model", "t5 mt5 bart marian whisper"},
    {"dense_act_fn", kOfT5},
    {"feed_forward_proj", kOfT5},
    {"is_encoder_decoder", "t5 mt5 bart marian whisper"},
    {"is_gated_act", kOfT5},
    {"num_decoder_layers", kOfT5},
    {"num_heads", kOfT5},
    {"num_layers", kOfT5},
    {"relative_attention_max_distance", kOfT5},
    {"relative_attention_num_buckets", "t5 mt5 mpnet"},
    {"scale_decoder_outputs", "t5"},
};

constexpr std::string_view kNoSettings[] = {
    // name and origin
    "_commit_hash",
    "_name_or_path",
    "architectures",
    "auto_map",
    "dtype",
    "experts_per_token",  // of gpt-oss, whose num_experts_per_tok counts
    "finetuning_task",
    "ignore_index",  // of a loss
    "license",
    "model_type",
    "name_or_path",
    "tokenizer_class",
    "torch_dtype",
    "transformers_version",
    "transformers.js_config",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    // tokens and classes
    "bos_token_id",
    "cls_token_id",
    "decoder_start_token_id",
    "eos_token_id",
    "id2label",
    "label2id",
    "mask_token_id",
    "num_labels",
    "pad_token_id",
    "prefix",
    "sep_token_id",
    "unk_token_id",
    // training
    "activation_dropout",
    "aux_loss_alpha",
    "classif_dropout",
    "decoder_layerdrop",
    "encoder_layerdrop",
    "attention_dropout",
    "classifier_activation",
    "classifier_bias",
    "classifier_dropout_prob",
    "classifier_pooling",
    "decoder_bias",
    "deterministic_flash_attn",
    "embedding_dropout",
    "initializer_cutoff_factor",
    "init_std",
    "layerdrop",
    "mlp_dropout",
    "residual_dropout",
    "sparse_pred_ignore_index",
    "sparse_prediction",
    "summary_last_dropout",
    // tokens of images among those of a text, whose image is not read
    "boi_token_index",
    "eoi_token_index",
    "image_token_index",
    "mm_tokens_per_image",
    "image_token_id",
    "video_token_id",
    "vision_end_token_id",
    "vision_start_token_id",
    "attention_probs_dropout_prob",
    "attn_pdrop",
    "classifier_dropout",
    "drop_path_rate",
    "dropout_rate",
    "dropout",
    "embd_pdrop",
    "gradient_checkpointing",
    "hidden_dropout",
    "hidden_dropout_prob",
    "initializer_factor",
    "initializer_range",
    "layerscale_value",
    "logit_scale_init_value",
    "output_router_logits",
    "problem_type",
    "qa_dropout",
    "resid_pdrop",
    "router_aux_loss_coef",
    "router_jitter_noise",
    "seq_aux",
    "seq_classif_dropout",
    "tie_weights_",
    // of Whisper: noise in training, the times of words, heads of other tasks
    "apply_spec_augment",
    "classifier_proj_size",
    "forced_decoder_ids",
    "mask_feature_length",
    "mask_feature_min_masks",
    "mask_feature_prob",
    "mask_time_length",
    "mask_time_min_masks",
    "mask_time_prob",
    "median_filter_width",
    "use_weighted_layer_sum",
    // heads that are not read, how it is computed and returned
    "ep_size",
    "num_nextn_predict_layers",
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_sliding_window_pattern",
    "apply_layernorm",
    "cache_implementation",
    "chunk_size_feed_forward",
    "cross_attention_hidden_size",
    "directionality",
    "encoder_stride",
    "initial_context_length",
    "n_ctx",
    "output_attentions",
    "output_hidden_states",
    "out_features",
    "out_indices",
    "output_past",
    "output_scores",
    "pooler_act",
    "pooler_fc_size",
    "pooler_num_attention_heads",
    "pooler_num_fc_layers",
    "pooler_output_size",
    "pooler_size_per_head",
    "pooler_type",
    "predict_special_tokens",
    "reshape_hidden_states",
    "sinusoidal_pos_embds",
    "stage_names",
    "use_mask_token",
    "pretraining_tp",
    "return_dict",
    "return_dict_in_generate",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "task_specific_params",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "torchscript",
    "use_cache",
    // generation
    "bad_words_ids",
    "begin_suppress_tokens",
    "diversity_penalty",
    "do_sample",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "length_penalty",
    "max_length",
    "min_length",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_return_sequences",
    "remove_invalid_values",
    "repetition_penalty",
    "suppress_tokens",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
};

/// What another architecture computes with.
constexpr struct {
    std::string_view key;
    ViewActions plain = ViewActions::none;
} kForeignKeys[] = {
    // scores, masks and positions
    {"alibi"},
    {"attention_chunk_size"},
    {"attention_multiplier", ViewActions::one},
    {"attention_type"},
    {"attention_window"},
    {"attn_config"},
    {"attn_logit_softcapping"},
    {"attn_scale"},
    {"attn_temperature_tuning"},
    {"clip_qkv"},
    {"cross_layer_attention"},
    {"is_encoder_decoder"},
    {"kv_lora_rank"},
    {"local_rope_theta"},
    {"logit_scale", ViewActions::one},
    {"logits_scaling", ViewActions::one},
    {"max_relative_positions"},
    {"mrope_section"},
    {"multi_query"},
    {"new_decoder_architecture"},
    {"no_rope_layer_interval"},
    {"no_rope_layers"},
    {"partial_rotary_factor", ViewActions::one},
    {"pos_att_type"},
    {"q_lora_rank"},
    {"qk_layernorm"},
    {"qk_nope_head_dim"},
    {"qk_norm"},
    {"qk_rope_head_dim"},
    {"query_pre_attn_scalar"},
    {"relative_attention"},
    {"relative_attention_max_distance"},
    {"relative_attention_num_buckets"},
    {"rope_interleave"},
    {"rope_local_base_freq"},
    {"rope_pct", ViewActions::one},
    {"rope_ratio", ViewActions::one},
    {"rotary_dim"},
    {"rotary_emb_base"},
    {"rotary_pct", ViewActions::one},
    {"rotary_value"},
    {"sliding_window_pattern"},
    {"use_alibi"},
    {"use_bidirectional_attention"},
    {"use_dynamic_ntk"},
    {"use_logn_attn"},
    {"use_qk_norm"},
    {"use_relative_position_bias"},
    {"use_shared_relative_position_bias"},
    // norms, sums and the read-out
    {"apply_residual_connection_post_layernorm"},
    {"embedding_multiplier", ViewActions::one},
    {"embedding_size", ViewActions::width},
    {"final_logit_softcapping"},
    {"hidden_activation"},
    {"layer_scale_init_value"},
    {"mup_base_shapes"},
    {"normalize_embeddings"},
    {"num_register_tokens"},
    {"parallel_attn"},
    {"residual_multiplier", ViewActions::one},
    {"scale_embedding"},
    {"scale_emb", ViewActions::one},
    {"use_mean_pooling"},
    {"use_parallel_residual"},
    {"word_embed_proj_dim", ViewActions::width},
    // experts, blocks that are no attention
    {"first_k_dense_replace"},
    {"is_gated_act"},
    {"mamba_d_state"},
    {"mlp_only_layers"},
    {"moe_intermediate_size"},
    {"n_routed_experts"},
    {"n_shared_experts"},
    {"num_experts"},
    {"num_experts_per_tok"},
    {"num_hidden_groups"},
    {"num_kv_shared_layers"},
    {"num_local_experts"},
    {"shared_expert_intermediate_size"},
    {"ssm_cfg"},
    {"swiglu_limit"},
    {"use_swiglu_ffn"},
    // models in models, and weights that are codes
    {"audio_config"},
    {"compression_config"},
    {"quantization"},
    {"text_config"},
    {"text_config_dict"},
    {"vision_config"},
    {"vision_config_dict"},
};

/// Of words with a space between them.
bool has_word(std::string_view text, std::string_view word) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (text.substr(0, end) == word) return true;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return false;
}

bool is_among(std::string_view key, auto& keys) {
    return std::ranges::find(keys, key) != std::ranges::end(keys);
}

/// nullptr where it is in no row.
template <class Row, std::size_t N>
const Row* row_of(std::string_view key, const Row (&rows)[N]) {
    const Row* const found = std::ranges::find(rows, key, &Row::key);
    return found == std::end(rows) ? nullptr : found;
}

}  // namespace

bool is_own_key(const ModelFamily& family, std::string_view key) {
    const auto* const row = row_of(key, kOwnedKeys);
    return row == nullptr || has_word(row->families, family.key) || has_word(family.keys, key) ||
           (!family.kin.empty() && has_word(row->families, family.kin));
}

bool is_family_key(std::string_view key) { return row_of(key, kOwnedKeys) != nullptr; }

bool is_no_setting(std::string_view key) { return is_among(key, kNoSettings); }

std::optional<ViewActions> plain_value(std::string_view key) {
    const auto* const row = row_of(key, kForeignKeys);
    return row == nullptr ? std::nullopt : std::optional(row->plain);
}

}  // namespace attn
