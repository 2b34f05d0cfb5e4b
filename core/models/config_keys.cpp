#include "core/models/config_keys.h"

#include <algorithm>
#include <array>

namespace attn {
namespace {

constexpr std::array<std::string_view, 6> kGpt2Alone = {
    "n_embd", "n_layer", "n_head", "n_inner", "n_positions", "activation_function"};
constexpr std::array<std::string_view, 2> kNotGpt2 = {"hidden_act", "intermediate_size"};
constexpr std::array<std::string_view, 2> kRotaryAlone = {"num_key_value_heads", "head_dim"};

constexpr std::string_view kNoSettings[] = {
    // what it is
    "_name_or_path",
    "architectures",
    "auto_map",
    "dtype",
    "finetuning_task",
    "model_type",
    "name_or_path",
    "tokenizer_class",
    "torch_dtype",
    "transformers_version",
    "unsloth_version",
    // tokens and classes
    "bos_token_id",
    "cls_token_id",
    "decoder_start_token_id",
    "eos_token_id",
    "id2label",
    "label2id",
    "mask_token_id",
    "pad_token_id",
    "sep_token_id",
    "unk_token_id",
    // training
    "attention_dropout",
    "attention_probs_dropout_prob",
    "attn_pdrop",
    "classifier_dropout",
    "embd_pdrop",
    "gradient_checkpointing",
    "hidden_dropout",
    "hidden_dropout_prob",
    "initializer_factor",
    "initializer_range",
    "problem_type",
    "resid_pdrop",
    // heads that are not read, generation, how it is computed and returned
    "_attn_implementation",
    "_attn_implementation_autoset",
    "chunk_size_feed_forward",
    "encoder_stride",
    "max_length",
    "n_ctx",
    "output_attentions",
    "output_hidden_states",
    "output_past",
    "pooler_act",
    "pooler_output_size",
    "predict_special_tokens",
    "pretraining_tp",
    "return_dict",
    "summary_activation",
    "summary_first_dropout",
    "summary_proj_to_labels",
    "summary_type",
    "summary_use_proj",
    "task_specific_params",
    "torchscript",
    "use_cache",
};

bool is_among(std::string_view key, auto& keys) {
    return std::ranges::find(keys, key) != std::ranges::end(keys);
}

}  // namespace

bool is_own_key(const ModelFamily& family, std::string_view key) {
    const bool gpt2 = family.key == "gpt2";
    if (is_among(key, kGpt2Alone)) return gpt2;
    if (is_among(key, kNotGpt2)) return !gpt2;
    return !is_among(key, kRotaryAlone) || family.positions == Positions::rope;
}

bool is_no_setting(std::string_view key) { return is_among(key, kNoSettings); }

}  // namespace attn
