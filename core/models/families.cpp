#include <array>

#include "core/models/config.h"

namespace attn {
namespace {

constexpr TensorNames kGpt2 = {.prefix = "transformer.",
                               .embedding = "wte",
                               .positions = "wpe",
                               .attention_norm = "h.{}.ln_1",
                               .qkv = "h.{}.attn.c_attn",
                               .out = "h.{}.attn.c_proj",
                               .mlp_norm = "h.{}.ln_2",
                               .up = "h.{}.mlp.c_fc",
                               .down = "h.{}.mlp.c_proj",
                               .final_norm = "ln_f",
                               .read_out = "lm_head"};

constexpr TensorNames kLlama = {.prefix = "model.",
                                .embedding = "embed_tokens",
                                .attention_norm = "layers.{}.input_layernorm",
                                .q = "layers.{}.self_attn.q_proj",
                                .k = "layers.{}.self_attn.k_proj",
                                .v = "layers.{}.self_attn.v_proj",
                                .out = "layers.{}.self_attn.o_proj",
                                .mlp_norm = "layers.{}.post_attention_layernorm",
                                .gate = "layers.{}.mlp.gate_proj",
                                .up = "layers.{}.mlp.up_proj",
                                .down = "layers.{}.mlp.down_proj",
                                .final_norm = "norm",
                                .read_out = "lm_head"};

constexpr TensorNames with_head_norms(TensorNames names) {
    names.q_norm = "layers.{}.self_attn.q_norm";
    names.k_norm = "layers.{}.self_attn.k_norm";
    return names;
}

constexpr TensorNames kBert = {.prefix = "bert.",
                               .embedding = "embeddings.word_embeddings",
                               .positions = "embeddings.position_embeddings",
                               .kinds = "embeddings.token_type_embeddings",
                               .embedding_norm = "embeddings.LayerNorm",
                               .attention_norm = "encoder.layer.{}.attention.output.LayerNorm",
                               .q = "encoder.layer.{}.attention.self.query",
                               .k = "encoder.layer.{}.attention.self.key",
                               .v = "encoder.layer.{}.attention.self.value",
                               .out = "encoder.layer.{}.attention.output.dense",
                               .mlp_norm = "encoder.layer.{}.output.LayerNorm",
                               .up = "encoder.layer.{}.intermediate.dense",
                               .down = "encoder.layer.{}.output.dense"};

constexpr TensorNames kVit = {.prefix = "vit.",
                              .positions = "embeddings.position_embeddings",
                              .class_token = "embeddings.cls_token",
                              .patches = "embeddings.patch_embeddings.projection",
                              .attention_norm = "encoder.layer.{}.layernorm_before",
                              .q = "encoder.layer.{}.attention.attention.query",
                              .k = "encoder.layer.{}.attention.attention.key",
                              .v = "encoder.layer.{}.attention.attention.value",
                              .out = "encoder.layer.{}.attention.output.dense",
                              .mlp_norm = "encoder.layer.{}.layernorm_after",
                              .up = "encoder.layer.{}.intermediate.dense",
                              .down = "encoder.layer.{}.output.dense",
                              .final_norm = "layernorm",
                              .read_out = "classifier"};

constexpr TensorNames kUseLite = {.embedding = "embedding",
                                  .attention_norm = "layers.{}.attention_norm",
                                  .qkv = "layers.{}.qkv",
                                  .out = "layers.{}.out",
                                  .residual = "layers.{}.residual",
                                  .mlp_norm = "layers.{}.mlp_norm",
                                  .up = "layers.{}.up",
                                  .down = "layers.{}.down",
                                  .read_out = "read_out"};

constexpr ModelFamily llama(std::string_view key, std::string_view words,
                            WindowRule window = WindowRule::ignored, Index kv_heads = 0,
                            const TensorNames& names = kLlama) {
    return {.key = key,
            .words = words,
            .epsilon_key = "rms_norm_eps",
            .epsilon = 1e-6,
            .kv_heads = kv_heads,
            .window = window,
            .norm = Norm::rms,
            .positions = Positions::rope,
            .activation = Activation::silu,
            .causal = true,
            .read_out = ReadOut::next_token,
            .names = names};
}

constexpr std::array kFamilies = {
    ModelFamily{.key = "gpt2",
                .words = "GPT-2",
                .epsilon_key = "layer_norm_epsilon",
                .epsilon = 1e-5,
                .activation = Activation::gelu_tanh,
                .causal = true,
                .rows_are_inputs = true,
                .read_out = ReadOut::next_token,
                .names = kGpt2},
    llama("llama", "Llama"),
    llama("mistral", "Mistral", WindowRule::always, 8),
    llama("qwen2", "Qwen 2", WindowRule::switched, 32),
    llama("qwen3", "Qwen 3", WindowRule::switched, 32, with_head_norms(kLlama)),
    ModelFamily{.key = "bert", .words = "BERT", .norms_after = true, .names = kBert},
    ModelFamily{.key = "vit",
                .words = "ViT",
                .reads_images = true,
                .read_out = ReadOut::classes,
                .names = kVit},
    ModelFamily{.key = "use_lite",
                .words = "Universal Sentence Encoder Lite",
                .epsilon = 1e-5,
                .positions = Positions::waves,
                .activation = Activation::relu,
                .rows_are_inputs = true,
                .read_out = ReadOut::sentence,
                .names = kUseLite},
};

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

std::string model_family_words() {
    std::string words;
    for (const ModelFamily& family : kFamilies) {
        if (!words.empty()) words += ", ";
        words += family.words;
    }
    return words;
}

}  // namespace attn
