#include <array>

#include "core/models/config.h"
#include "core/models/family.h"

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

/// Norms of what attention and the MLP give, and none of what they read.
constexpr TensorNames with_norms_of_outputs(TensorNames names) {
    names.attention_norm = names.mlp_norm = {};
    names.attention_out_norm = "layers.{}.post_attention_layernorm";
    names.mlp_out_norm = "layers.{}.post_feedforward_layernorm";
    return names;
}

/// Norms of both.
constexpr TensorNames with_norms_around(TensorNames names) {
    names = with_norms_of_outputs(names);
    names.attention_norm = "layers.{}.input_layernorm";
    names.mlp_norm = "layers.{}.pre_feedforward_layernorm";
    return names;
}

constexpr TensorNames fused(TensorNames names) {
    names.qkv = "layers.{}.self_attn.qkv_proj";
    names.q = names.k = names.v = names.gate = {};
    names.up = "layers.{}.mlp.gate_up_proj";
    return names;
}

constexpr TensorNames with_experts(TensorNames names) {
    names.router = "layers.{}.block_sparse_moe.gate";
    names.gate = "layers.{}.block_sparse_moe.experts.[].w1";
    names.up = "layers.{}.block_sparse_moe.experts.[].w3";
    names.down = "layers.{}.block_sparse_moe.experts.[].w2";
    return names;
}

constexpr TensorNames with_stacked_experts(TensorNames names) {
    names.sinks = "layers.{}.self_attn.sinks";
    names.router = "layers.{}.mlp.router";
    names.gate = {};
    names.up = "layers.{}.mlp.experts.gate_up_proj";
    names.down = "layers.{}.mlp.experts.down_proj";
    return names;
}

/// Experts and, in layers without them, an MLP, under the names of Qwen.
constexpr TensorNames with_qwen_experts(TensorNames names) {
    names.router = "layers.{}.mlp.gate";
    names.gate = "layers.{}.mlp.experts.[].gate_proj";
    names.up = "layers.{}.mlp.experts.[].up_proj";
    names.down = "layers.{}.mlp.experts.[].down_proj";
    return names;
}

constexpr TensorNames with_shared_expert(TensorNames names) {
    names.shared_expert = "shared_expert";
    names.shared_gate = "layers.{}.mlp.shared_expert_gate";
    return names;
}

/// Multi-head latent attention, and experts with one that every token takes.
constexpr TensorNames deepseek_names() {
    TensorNames names = with_qwen_experts(kLlama);
    names.k = names.v = {};
    names.q_down = "layers.{}.self_attn.q_a_proj";
    names.q_down_norm = "layers.{}.self_attn.q_a_layernorm";
    names.q_up = "layers.{}.self_attn.q_b_proj";
    names.kv_down = "layers.{}.self_attn.kv_a_proj_with_mqa";
    names.kv_down_norm = "layers.{}.self_attn.kv_a_layernorm";
    names.kv_up = "layers.{}.self_attn.kv_b_proj";
    names.shared_expert = "shared_experts";
    return names;
}

/// Up and down alone, and no second norm.
constexpr TensorNames phi_names() {
    TensorNames names = kLlama;
    names.q_norm = "layers.{}.self_attn.q_layernorm";
    names.k_norm = "layers.{}.self_attn.k_layernorm";
    names.out = "layers.{}.self_attn.dense";
    names.mlp_norm = names.gate = {};
    names.up = "layers.{}.mlp.fc1";
    names.down = "layers.{}.mlp.fc2";
    names.final_norm = "final_layernorm";
    return names;
}

constexpr TensorNames starcoder_names() {
    TensorNames names = kLlama;
    names.gate = {};
    names.up = "layers.{}.mlp.c_fc";
    names.down = "layers.{}.mlp.c_proj";
    return names;
}

constexpr TensorNames kOpt = {.prefix = "model.decoder. decoder.",
                              .embedding = "embed_tokens",
                              .positions = "embed_positions",
                              .attention_norm = "layers.{}.self_attn_layer_norm",
                              .q = "layers.{}.self_attn.q_proj",
                              .k = "layers.{}.self_attn.k_proj",
                              .v = "layers.{}.self_attn.v_proj",
                              .out = "layers.{}.self_attn.out_proj",
                              .mlp_norm = "layers.{}.final_layer_norm",
                              .up = "layers.{}.fc1",
                              .down = "layers.{}.fc2",
                              .final_norm = "final_layer_norm",
                              .read_out = "lm_head"};

constexpr TensorNames kFalcon = {.prefix = "transformer.",
                                 .embedding = "word_embeddings",
                                 .attention_norm = "h.{}.input_layernorm",
                                 .qkv = "h.{}.self_attention.query_key_value",
                                 .out = "h.{}.self_attention.dense",
                                 .mlp_norm = "h.{}.post_attention_layernorm",
                                 .up = "h.{}.mlp.dense_h_to_4h",
                                 .down = "h.{}.mlp.dense_4h_to_h",
                                 .parallel_attention_norm = "h.{}.ln_attn",
                                 .parallel_mlp_norm = "h.{}.ln_mlp",
                                 .final_norm = "ln_f",
                                 .read_out = "lm_head"};

constexpr TensorNames kModernBert = {.prefix = "model.",
                                     .embedding = "embeddings.tok_embeddings",
                                     .embedding_norm = "embeddings.norm",
                                     .attention_norm = "layers.{}.attn_norm",
                                     .qkv = "layers.{}.attn.Wqkv",
                                     .out = "layers.{}.attn.Wo",
                                     .mlp_norm = "layers.{}.mlp_norm",
                                     .up = "layers.{}.mlp.Wi",
                                     .down = "layers.{}.mlp.Wo",
                                     .final_norm = "final_norm"};

constexpr TensorNames kNeox = {.prefix = "gpt_neox.",
                               .embedding = "embed_in",
                               .attention_norm = "layers.{}.input_layernorm",
                               .qkv = "layers.{}.attention.query_key_value",
                               .out = "layers.{}.attention.dense",
                               .mlp_norm = "layers.{}.post_attention_layernorm",
                               .up = "layers.{}.mlp.dense_h_to_4h",
                               .down = "layers.{}.mlp.dense_4h_to_h",
                               .final_norm = "final_layer_norm",
                               .read_out = "embed_out"};

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
                               .down = "encoder.layer.{}.output.dense",
                               .read_out = "classifier"};

/// BERT with its norms before the parts, as Megatron-LM has it.
constexpr TensorNames kMegatronBert = {.prefix = "bert.",
                                       .embedding = "embeddings.word_embeddings",
                                       .positions = "embeddings.position_embeddings",
                                       .kinds = "embeddings.token_type_embeddings",
                                       .attention_norm = "encoder.layer.{}.attention.ln",
                                       .q = "encoder.layer.{}.attention.self.query",
                                       .k = "encoder.layer.{}.attention.self.key",
                                       .v = "encoder.layer.{}.attention.self.value",
                                       .out = "encoder.layer.{}.attention.output.dense",
                                       .mlp_norm = "encoder.layer.{}.ln",
                                       .up = "encoder.layer.{}.intermediate.dense",
                                       .down = "encoder.layer.{}.output.dense",
                                       .final_norm = "encoder.ln",
                                       .read_out = "classifier"};

constexpr TensorNames with_prefix(TensorNames names, std::string_view prefix) {
    names.prefix = prefix;
    return names;
}

constexpr TensorNames electra_names() {
    TensorNames names = with_prefix(kBert, "electra.");
    names.embedding_map = "embeddings_project";
    return names;
}

/// {}: of the group of layers.
constexpr TensorNames kAlbert = {
    .prefix = "albert.",
    .embedding = "embeddings.word_embeddings",
    .positions = "embeddings.position_embeddings",
    .kinds = "embeddings.token_type_embeddings",
    .embedding_norm = "embeddings.LayerNorm",
    .embedding_map = "encoder.embedding_hidden_mapping_in",
    .attention_norm = "encoder.albert_layer_groups.{}.albert_layers.0.attention.LayerNorm",
    .q = "encoder.albert_layer_groups.{}.albert_layers.0.attention.query",
    .k = "encoder.albert_layer_groups.{}.albert_layers.0.attention.key",
    .v = "encoder.albert_layer_groups.{}.albert_layers.0.attention.value",
    .out = "encoder.albert_layer_groups.{}.albert_layers.0.attention.dense",
    .mlp_norm = "encoder.albert_layer_groups.{}.albert_layers.0.full_layer_layer_norm",
    .up = "encoder.albert_layer_groups.{}.albert_layers.0.ffn",
    .down = "encoder.albert_layer_groups.{}.albert_layers.0.ffn_output",
    .read_out = "classifier"};

constexpr TensorNames mpnet_names() {
    TensorNames names = with_prefix(kBert, "mpnet.");
    names.kinds = {};
    names.attention_norm = "encoder.layer.{}.attention.LayerNorm";
    names.q = "encoder.layer.{}.attention.attn.q";
    names.k = "encoder.layer.{}.attention.attn.k";
    names.v = "encoder.layer.{}.attention.attn.v";
    names.out = "encoder.layer.{}.attention.attn.o";
    names.distances = "encoder.relative_attention_bias";
    return names;
}

constexpr TensorNames kDistilBert = {.prefix = "distilbert.",
                                     .embedding = "embeddings.word_embeddings",
                                     .positions = "embeddings.position_embeddings",
                                     .embedding_norm = "embeddings.LayerNorm",
                                     .attention_norm = "transformer.layer.{}.sa_layer_norm",
                                     .q = "transformer.layer.{}.attention.q_lin",
                                     .k = "transformer.layer.{}.attention.k_lin",
                                     .v = "transformer.layer.{}.attention.v_lin",
                                     .out = "transformer.layer.{}.attention.out_lin",
                                     .mlp_norm = "transformer.layer.{}.output_layer_norm",
                                     .up = "transformer.layer.{}.ffn.lin1",
                                     .down = "transformer.layer.{}.ffn.lin2",
                                     .read_out = "classifier"};

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

constexpr TensorNames deit() {
    TensorNames names = with_prefix(kVit, "deit.");
    names.distillation_token = "embeddings.distillation_token";
    return names;
}

constexpr TensorNames dino() {
    TensorNames names = with_prefix(kVit, "dinov2.");
    names.attention_norm = "encoder.layer.{}.norm1";
    names.mlp_norm = "encoder.layer.{}.norm2";
    names.up = "encoder.layer.{}.mlp.fc1";
    names.down = "encoder.layer.{}.mlp.fc2";
    names.attention_scale = "encoder.layer.{}.layer_scale1.lambda1";
    names.mlp_scale = "encoder.layer.{}.layer_scale2.lambda1";
    names.read_out = {};
    return names;
}

constexpr TensorNames dino_with_registers() {
    TensorNames names = dino();
    names.prefix = "dinov2_with_registers.";
    names.register_tokens = "embeddings.register_tokens";
    return names;
}

constexpr TensorNames kT5Encoder = {
    .embedding = "shared",
    .attention_norm = "encoder.block.{}.layer.0.layer_norm",
    .q = "encoder.block.{}.layer.0.SelfAttention.q",
    .k = "encoder.block.{}.layer.0.SelfAttention.k",
    .v = "encoder.block.{}.layer.0.SelfAttention.v",
    .out = "encoder.block.{}.layer.0.SelfAttention.o",
    .mlp_norm = "encoder.block.{}.layer.1.layer_norm",
    .gate = "encoder.block.{}.layer.1.DenseReluDense.wi_0",
    .up = "encoder.block.{}.layer.1.DenseReluDense.wi_1",
    .down = "encoder.block.{}.layer.1.DenseReluDense.wo",
    .final_norm = "encoder.final_layer_norm",
    .distances = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    .plain_up = "encoder.block.{}.layer.1.DenseReluDense.wi"};

constexpr TensorNames kT5Decoder = {
    .embedding = "shared",
    .attention_norm = "decoder.block.{}.layer.0.layer_norm",
    .q = "decoder.block.{}.layer.0.SelfAttention.q",
    .k = "decoder.block.{}.layer.0.SelfAttention.k",
    .v = "decoder.block.{}.layer.0.SelfAttention.v",
    .out = "decoder.block.{}.layer.0.SelfAttention.o",
    .mlp_norm = "decoder.block.{}.layer.2.layer_norm",
    .gate = "decoder.block.{}.layer.2.DenseReluDense.wi_0",
    .up = "decoder.block.{}.layer.2.DenseReluDense.wi_1",
    .down = "decoder.block.{}.layer.2.DenseReluDense.wo",
    .final_norm = "decoder.final_layer_norm",
    .read_out = "lm_head",
    .distances = "decoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    .plain_up = "decoder.block.{}.layer.2.DenseReluDense.wi",
    .cross_norm = "decoder.block.{}.layer.1.layer_norm",
    .cross_q = "decoder.block.{}.layer.1.EncDecAttention.q",
    .cross_k = "decoder.block.{}.layer.1.EncDecAttention.k",
    .cross_v = "decoder.block.{}.layer.1.EncDecAttention.v",
    .cross_out = "decoder.block.{}.layer.1.EncDecAttention.o"};

constexpr TensorNames kBartEncoder = {.prefix = "model.",
                                      .embedding = "shared",
                                      .positions = "encoder.embed_positions",
                                      .embedding_norm = "encoder.layernorm_embedding",
                                      .attention_norm = "encoder.layers.{}.self_attn_layer_norm",
                                      .q = "encoder.layers.{}.self_attn.q_proj",
                                      .k = "encoder.layers.{}.self_attn.k_proj",
                                      .v = "encoder.layers.{}.self_attn.v_proj",
                                      .out = "encoder.layers.{}.self_attn.out_proj",
                                      .mlp_norm = "encoder.layers.{}.final_layer_norm",
                                      .up = "encoder.layers.{}.fc1",
                                      .down = "encoder.layers.{}.fc2"};

constexpr TensorNames kBartDecoder = {.prefix = "model.",
                                      .embedding = "shared",
                                      .positions = "decoder.embed_positions",
                                      .embedding_norm = "decoder.layernorm_embedding",
                                      .attention_norm = "decoder.layers.{}.encoder_attn_layer_norm",
                                      .q = "decoder.layers.{}.self_attn.q_proj",
                                      .k = "decoder.layers.{}.self_attn.k_proj",
                                      .v = "decoder.layers.{}.self_attn.v_proj",
                                      .out = "decoder.layers.{}.self_attn.out_proj",
                                      .mlp_norm = "decoder.layers.{}.final_layer_norm",
                                      .up = "decoder.layers.{}.fc1",
                                      .down = "decoder.layers.{}.fc2",
                                      .read_out = "lm_head",
                                      .logits_bias = "final_logits_bias",
                                      .cross_norm = "decoder.layers.{}.self_attn_layer_norm",
                                      .cross_q = "decoder.layers.{}.encoder_attn.q_proj",
                                      .cross_k = "decoder.layers.{}.encoder_attn.k_proj",
                                      .cross_v = "decoder.layers.{}.encoder_attn.v_proj",
                                      .cross_out = "decoder.layers.{}.encoder_attn.out_proj"};

/// BART's with norms before, one more behind the last block, and no norm of the embedding.
constexpr TensorNames whisper_encoder() {
    TensorNames names = kBartEncoder;
    names.embedding = names.embedding_norm = {};
    names.sound_in = "encoder.conv1";
    names.sound_half = "encoder.conv2";
    names.final_norm = "encoder.layer_norm";
    return names;
}

constexpr TensorNames whisper_decoder() {
    TensorNames names = kBartDecoder;
    names.embedding = "decoder.embed_tokens";
    names.embedding_norm = names.logits_bias = {};
    names.attention_norm = "decoder.layers.{}.self_attn_layer_norm";
    names.cross_norm = "decoder.layers.{}.encoder_attn_layer_norm";
    names.final_norm = "decoder.layer_norm";
    names.read_out = "proj_out";
    return names;
}

constexpr TensorNames without_embedding_norm(TensorNames names) {
    names.embedding_norm = {};
    return names;
}

constexpr TensorNames kClipText = {.embedding = "text_model.embeddings.token_embedding",
                                   .positions = "text_model.embeddings.position_embedding",
                                   .attention_norm = "text_model.encoder.layers.{}.layer_norm1",
                                   .q = "text_model.encoder.layers.{}.self_attn.q_proj",
                                   .k = "text_model.encoder.layers.{}.self_attn.k_proj",
                                   .v = "text_model.encoder.layers.{}.self_attn.v_proj",
                                   .out = "text_model.encoder.layers.{}.self_attn.out_proj",
                                   .mlp_norm = "text_model.encoder.layers.{}.layer_norm2",
                                   .up = "text_model.encoder.layers.{}.mlp.fc1",
                                   .down = "text_model.encoder.layers.{}.mlp.fc2",
                                   .final_norm = "text_model.final_layer_norm",
                                   .read_out = "text_projection",
                                   .logit_scale = "logit_scale"};

constexpr TensorNames kClipImage = {.prefix = "vision_model.",
                                    .positions = "embeddings.position_embedding.weight",
                                    .embedding_norm = "pre_layrnorm",
                                    .class_token = "embeddings.class_embedding",
                                    .patches = "embeddings.patch_embedding",
                                    .attention_norm = "encoder.layers.{}.layer_norm1",
                                    .q = "encoder.layers.{}.self_attn.q_proj",
                                    .k = "encoder.layers.{}.self_attn.k_proj",
                                    .v = "encoder.layers.{}.self_attn.v_proj",
                                    .out = "encoder.layers.{}.self_attn.out_proj",
                                    .mlp_norm = "encoder.layers.{}.layer_norm2",
                                    .up = "encoder.layers.{}.mlp.fc1",
                                    .down = "encoder.layers.{}.mlp.fc2",
                                    .final_norm = "post_layernorm",
                                    .read_out = "visual_projection"};

constexpr TensorNames siglip_text() {
    TensorNames names = kClipText;
    names.read_out = "text_model.head";
    names.logit_bias = "logit_bias";
    return names;
}

/// Of a pair, or of a file of its own, with or without the prefix.
constexpr TensorNames siglip_image() {
    TensorNames names = kClipImage;
    names.embedding_norm = names.class_token = names.read_out = {};
    names.pool = "head";
    return names;
}

constexpr TensorNames kUseLite = {.embedding = "embedding",
                                  .attention_norm = "layers.{}.attention_norm",
                                  .qkv = "layers.{}.qkv",
                                  .out = "layers.{}.out",
                                  .residual = "layers.{}.residual",
                                  .mlp_norm = "layers.{}.mlp_norm",
                                  .up = "layers.{}.up",
                                  .down = "layers.{}.down",
                                  .read_out = "read_out"};

constexpr ModelFamily llama(std::string_view key, std::string_view text,
                            BiasRule biases = BiasRule::none, Index kv_heads = 0,
                            const TensorNames& names = kLlama) {
    return {.key = key,
            .text = text,
            .epsilon_key = "rms_norm_eps",
            .epsilon = 1e-6,
            .kv_heads = kv_heads,
            .norm = Norm::rms,
            .attention_biases = biases,
            .mlp_biases = BiasRule::none,
            .positions = Positions::rope,
            .activation = Activation::silu,
            .causal = true,
            .read_out = ReadOut::next_token,
            .names = names};
}

constexpr ModelFamily with_window(ModelFamily family, WindowRule rule, Index keys = 4096,
                                  Index pattern = 2) {
    family.window = rule;
    family.window_keys = keys;
    family.window_pattern = pattern;
    return family;
}

constexpr ModelFamily llama_itself(std::string_view key, std::string_view text) {
    ModelFamily family = llama(key, text, BiasRule::if_declared);
    family.mlp_biases = BiasRule::if_declared;
    return family;
}

constexpr ModelFamily qwen3() {
    ModelFamily family =
        llama("qwen3", "Qwen 3", BiasRule::if_declared, 32, with_head_norms(kLlama));
    family.head_width = 128;
    return with_window(family, WindowRule::switched);
}

constexpr ModelFamily phi3() {
    ModelFamily family = llama("phi3", "Phi-3", BiasRule::none, 0, fused(kLlama));
    family.epsilon = 1e-5;
    family.gated = Gated::halves;
    family.partial_rope = true;
    return with_window(family, WindowRule::if_declared);
}

constexpr ModelFamily gemma(std::string_view key, std::string_view text, Index pattern,
                            const TensorNames& names) {
    ModelFamily family = llama(key, text, BiasRule::if_declared, 4, names);
    family.norms_add_one = family.embedding_root = family.tied = true;
    family.query_scalar = 256.0;
    family.head_width = 256;
    family.activation = Activation::gelu_tanh;
    return with_window(family, WindowRule::by_layer, 4096, pattern);
}

constexpr ModelFamily gemma2() {
    ModelFamily family = gemma("gemma2", "Gemma 2", 2, with_norms_around(kLlama));
    family.score_cap = 50.0;
    family.logit_cap = 30.0;
    return family;
}

constexpr ModelFamily gemma3() {
    ModelFamily family =
        gemma("gemma3_text", "Gemma 3 (text)", 6, with_head_norms(with_norms_around(kLlama)));
    family.rope_base = 1e6;
    family.window_ropes = true;
    return family;
}

constexpr ModelFamily olmo2() {
    ModelFamily family = llama("olmo2", "OLMo 2", BiasRule::if_declared, 0,
                               with_head_norms(with_norms_of_outputs(kLlama)));
    family.epsilon = 1e-5;
    family.joined_norms = true;
    return family;
}

constexpr ModelFamily mixtral() {
    ModelFamily family = llama("mixtral", "Mixtral", BiasRule::none, 8, with_experts(kLlama));
    family.epsilon = 1e-5;
    family.rope_base = 1e6;
    return with_window(family, WindowRule::if_declared);
}

constexpr ModelFamily gpt_oss() {
    ModelFamily family =
        llama("gpt_oss", "gpt-oss", BiasRule::default_true, 8, with_stacked_experts(kLlama));
    family.epsilon = 1e-5;
    family.rope_base = 150000.0;
    family.head_width = 64;
    family.gated = Gated::clamped;
    return with_window(family, WindowRule::by_layer, 128);
}

constexpr ModelFamily gemma3_in_two() {
    ModelFamily family = gemma3();
    family.key = "gemma3";
    family.text = "Gemma 3";
    family.kin = "gemma3_text";
    family.caps_logits = false;  // its class of texts and images reads out without a cap
    family.section = "text_config";
    family.defaults = R"({"vocab_size": 262208, "hidden_size": 2304, "intermediate_size": 9216,
        "num_hidden_layers": 26, "num_attention_heads": 8})";
    family.names.prefix = "language_model.model. model.language_model.";
    return family;
}

constexpr ModelFamily smollm3() {
    ModelFamily family = llama_itself("smollm3", "SmolLM3");
    family.kv_heads = 4;
    family.rope_base = 2e6;
    family.tied = true;
    return with_window(family, WindowRule::still);
}

constexpr ModelFamily of_qwen_experts(ModelFamily family, Index experts, Index taken) {
    family.experts = experts;
    family.experts_per_token = taken;
    family.expert_shares_sum = false;
    return family;
}

constexpr ModelFamily qwen3_moe() {
    const TensorNames names = with_qwen_experts(with_head_norms(kLlama));
    ModelFamily family =
        of_qwen_experts(llama("qwen3_moe", "Qwen 3 MoE", BiasRule::if_declared, 4, names), 128, 8);
    return with_window(family, WindowRule::switched_whole);
}

constexpr ModelFamily qwen2_moe() {
    const TensorNames names = with_shared_expert(with_qwen_experts(kLlama));
    ModelFamily family =
        of_qwen_experts(llama("qwen2_moe", "Qwen 2 MoE", BiasRule::of_qkv, 16, names), 60, 4);
    family.attention_bias_key = "qkv_bias";
    return with_window(family, WindowRule::switched_even);
}

constexpr ModelFamily deepseek_v2() {
    ModelFamily family =
        llama("deepseek_v2", "DeepSeek-V2", BiasRule::if_declared, 0, deepseek_names());
    family.mlp_biases = BiasRule::if_declared;
    family.rope_pairs = RopePairs::interleaved;
    family.expert_shares_sum = false;
    family.defaults = R"({"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "n_routed_experts": 64, "n_shared_experts": 2,
        "moe_intermediate_size": 1407, "first_k_dense_replace": 0, "topk_method": "greedy",
        "routed_scaling_factor": 1.0})";
    return family;
}

constexpr ModelFamily deepseek_v3() {
    ModelFamily family = deepseek_v2();
    family.key = "deepseek_v3";
    family.text = "DeepSeek-V3";
    family.mlp_biases = BiasRule::none;
    family.names.router_bias = "layers.{}.mlp.gate.e_score_correction_bias";
    family.routing = Routing::sigmoid;
    family.expert_shares_sum = family.yarn_scores = true;
    family.defaults = R"({"kv_lora_rank": 512, "q_lora_rank": 1536, "qk_rope_head_dim": 64,
        "qk_nope_head_dim": 128, "v_head_dim": 128, "n_routed_experts": 256, "n_shared_experts": 1,
        "moe_intermediate_size": 2048, "first_k_dense_replace": 3, "n_group": 8, "topk_group": 4,
        "num_experts_per_tok": 8, "routed_scaling_factor": 2.5})";
    return family;
}

constexpr TensorNames with_delta_nets(TensorNames names) {
    names.delta_net = "layers.{}.linear_attn";
    return names;
}

/// Three layers of linear attention to one of attention with gates.
constexpr ModelFamily with_delta_nets(ModelFamily family) {
    family.names = with_delta_nets(family.names);
    family.head_width = 256;
    family.norms_add_one = family.gated_heads = family.partial_rope = true;
    family.rope_share = 0.25;
    family.keys =
        "hidden_act intermediate_size attention_bias head_dim num_key_value_heads "
        "rms_norm_eps rope_parameters rope_scaling rope_theta original_max_position_embeddings "
        "layer_types partial_rotary_factor num_experts_per_tok num_experts norm_topk_prob "
        "moe_intermediate_size mlp_only_layers decoder_sparse_step "
        "shared_expert_intermediate_size linear_conv_kernel_dim linear_key_head_dim "
        "linear_num_key_heads linear_num_value_heads linear_value_head_dim "
        "full_attention_interval";
    return family;
}

constexpr ModelFamily qwen3_next() {
    const TensorNames names = with_shared_expert(with_qwen_experts(with_head_norms(kLlama)));
    ModelFamily family = of_qwen_experts(
        llama("qwen3_next", "Qwen3-Next", BiasRule::if_declared, 2, names), 512, 10);
    family.expert_shares_sum = true;
    return with_delta_nets(family);
}

constexpr ModelFamily qwen3_5_text() {
    return with_delta_nets(
        llama("qwen3_5_text", "Qwen3.5 (text)", BiasRule::if_declared, 4, with_head_norms(kLlama)));
}

/// The published folders of texts and images: their text part.
constexpr ModelFamily qwen3_5() {
    ModelFamily family = qwen3_5_text();
    family.key = "qwen3_5";
    family.text = "Qwen3.5";
    family.kin = "gemma3";  // for text_config and vision_config
    family.section = "text_config";
    family.defaults = R"({"vocab_size": 248320, "hidden_size": 4096, "intermediate_size": 12288,
        "num_hidden_layers": 32, "num_attention_heads": 16})";
    family.names.prefix = "model.language_model. language_model.model.";
    return family;
}

/// Norms that take the mean off, too.
constexpr ModelFamily with_layer_norms(ModelFamily family, std::string_view epsilon_key) {
    family.norm = Norm::layer;
    family.epsilon_key = epsilon_key;
    family.epsilon = 1e-5;
    return family;
}

constexpr ModelFamily phi() {
    ModelFamily family = with_layer_norms(llama("phi", "Phi", BiasRule::as_stored, 0, phi_names()),
                                          "layer_norm_eps");
    family.mlp_biases = BiasRule::as_stored;
    family.activation = Activation::gelu_tanh;
    family.partial_rope = family.parallel = family.read_out_bias = true;
    family.rope_share = 0.5;
    return family;
}

constexpr ModelFamily starcoder2() {
    ModelFamily family = with_layer_norms(
        llama("starcoder2", "StarCoder2", BiasRule::default_true, 2, starcoder_names()),
        "norm_epsilon");
    family.attention_bias_key = family.mlp_bias_key = "use_bias";
    family.mlp_biases = BiasRule::default_true;
    family.activation = Activation::gelu_tanh;
    family.tied = true;
    return with_window(family, WindowRule::if_declared);
}

constexpr ModelFamily stablelm() {
    ModelFamily family =
        with_layer_norms(llama("stablelm", "StableLM", BiasRule::of_qkv, 32), "layer_norm_eps");
    family.attention_bias_key = "use_qkv_bias";
    family.even_heads = true;
    family.qkv_bias_declared = family.partial_rope = true;
    family.rope_share = 0.25;
    return family;
}

constexpr ModelFamily cohere() {
    TensorNames names = kLlama;
    names.mlp_norm = {};
    ModelFamily family = with_layer_norms(
        llama("cohere", "Cohere", BiasRule::if_declared, 0, names), "layer_norm_eps");
    family.rope_pairs = RopePairs::interleaved;
    family.rope_base = 500000.0;
    family.tied = family.parallel = true;
    return family;
}

constexpr ModelFamily olmo() {
    ModelFamily family = with_layer_norms(llama("olmo", "OLMo", BiasRule::if_declared), "");
    family.plain_norms = true;
    return family;
}

constexpr ModelFamily olmo3() {
    ModelFamily family = olmo2();
    family.key = "olmo3";
    family.text = "OLMo 3";
    return with_window(family, WindowRule::by_layer, 4096, 4);
}

constexpr ModelFamily falcon() {
    ModelFamily family = with_layer_norms(
        llama("falcon", "Falcon", BiasRule::if_declared, 0, kFalcon), "layer_norm_epsilon");
    family.attention_bias_key = family.mlp_bias_key = "bias";
    family.even_heads = true;
    family.mlp_biases = BiasRule::if_declared;
    family.qkv_order = QkvOrder::heads;
    family.activation = Activation::gelu;
    family.tied = true;
    return family;
}

constexpr ModelFamily bert(std::string_view key, std::string_view text, std::string_view prefix) {
    return {.key = key,
            .text = text,
            .norms_after = true,
            .after_padding = key != "bert",
            .read_out = ReadOut::token_classes,
            .names = with_prefix(kBert, prefix)};
}

constexpr ModelFamily mpnet() {
    ModelFamily family = bert("mpnet", "MPNet", "mpnet.");
    family.names = mpnet_names();
    return family;
}

constexpr ModelFamily electra() {
    ModelFamily family = bert("electra", "ELECTRA", "electra.");
    family.after_padding = false;
    family.names = electra_names();
    return family;
}

constexpr ModelFamily albert() {
    ModelFamily family = electra();
    family.key = "albert";
    family.text = "ALBERT";
    family.activation = Activation::gelu_tanh;
    family.names = kAlbert;
    return family;
}

constexpr ModelFamily of_images(std::string_view key, std::string_view text, double epsilon,
                                const TensorNames& names) {
    return {.key = key,
            .text = text,
            .epsilon = epsilon,
            .reads_images = true,
            .read_out = names.read_out.empty() ? ReadOut::none : ReadOut::classes,
            .names = names};
}

/// RMS norms, a number for each distance, scores that are not scaled.
constexpr ModelFamily t5_stack(std::string_view key, std::string_view text, bool gated,
                               bool decoder) {
    return {.key = key,
            .text = text,
            .epsilon_key = "layer_norm_epsilon",
            .epsilon = 1e-6,
            .head_width = 64,
            .norm = Norm::rms,
            .attention_biases = BiasRule::none,
            .mlp_biases = BiasRule::none,
            .positions = Positions::distances,
            .tied = !gated,
            .activation = gated ? Activation::gelu_tanh : Activation::relu,
            .causal = decoder,
            .read_out = decoder ? ReadOut::next_token : ReadOut::none,
            .names = decoder ? kT5Decoder : kT5Encoder,
            .stack = decoder ? "decoder" : "encoder"};
}

constexpr ModelFamily kT5Second = t5_stack("t5", "T5", false, true);
constexpr ModelFamily kMt5Second = t5_stack("mt5", "mT5", true, true);

/// Norms after, positions of a table; Marian's are sines, and its embeddings have no norm.
constexpr ModelFamily bart_stack(bool marian, bool decoder) {
    const TensorNames& names = decoder ? kBartDecoder : kBartEncoder;
    return {.key = marian ? "marian" : "bart",
            .text = marian ? "MarianMT" : "BART",
            .epsilon_key = "",
            .epsilon = 1e-5,
            .norms_after = true,
            .positions = marian ? Positions::sines : Positions::learned,
            .first_position = marian ? 0 : 2,
            .tied = true,
            .causal = decoder,
            .read_out = decoder ? ReadOut::next_token : ReadOut::none,
            .names = marian ? without_embedding_norm(names) : names,
            .start_id = marian ? 58100 : 2,
            .stack = decoder ? "decoder" : "encoder"};
}

constexpr ModelFamily whisper_stack(bool decoder) {
    ModelFamily family = bart_stack(false, decoder);
    family.key = "whisper";
    family.text = "Whisper";
    family.norms_after = false;
    family.first_position = 0;
    family.names = decoder ? whisper_decoder() : whisper_encoder();
    family.start_id = 50257;
    return family;
}

constexpr ModelFamily kWhisperSecond = whisper_stack(true);
constexpr ModelFamily kBartSecond = bart_stack(false, true);
constexpr ModelFamily kMarianSecond = bart_stack(true, true);

constexpr ModelFamily clip_tower(bool images) {
    return {.key = "clip",
            .text = "CLIP",
            .epsilon = 1e-5,
            .activation = Activation::quick_gelu,
            .causal = !images,
            .reads_images = images,
            .read_out = ReadOut::projected,
            .names = images ? kClipImage : kClipText,
            .stack = images ? "image" : "text",
            .section = images ? "vision_config" : "text_config",
            .defaults = images ? R"({"hidden_size": 768, "intermediate_size": 3072,
                "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224,
                "patch_size": 32, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5})"
                               : R"({"vocab_size": 49408, "hidden_size": 512,
                "intermediate_size": 2048, "num_hidden_layers": 12, "num_attention_heads": 8,
                "max_position_embeddings": 77, "hidden_act": "quick_gelu",
                "layer_norm_eps": 1e-5})"};
}

constexpr ModelFamily kClipSecond = clip_tower(true);

constexpr ModelFamily siglip_tower(bool images) {
    ModelFamily family = clip_tower(images);
    family.key = "siglip";
    family.text = "SigLIP";
    family.epsilon = 1e-6;
    family.activation = Activation::gelu_tanh;
    family.causal = false;
    family.reads_last = !images;
    family.names = images ? siglip_image() : siglip_text();
    family.defaults = images ? R"({"hidden_size": 768, "intermediate_size": 3072,
        "num_hidden_layers": 12, "num_attention_heads": 12, "image_size": 224, "patch_size": 16})"
                             : R"({"vocab_size": 32000, "hidden_size": 768,
        "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "max_position_embeddings": 64})";
    return family;
}

constexpr ModelFamily kSiglipSecond = siglip_tower(true);

constexpr ModelFamily siglip_vision() {
    ModelFamily family = siglip_tower(true);
    family.key = "siglip_vision_model";
    family.text = "SigLIP (vision)";
    family.stack = family.section = {};
    return family;
}

/// A tower whose hidden states a decoder reads.
constexpr ModelFamily llava_tower(ModelFamily tower, std::string_view type) {
    tower.kin = tower.key;
    tower.key = "llava";
    tower.text = "LLaVA";
    tower.read_out = ReadOut::none;
    tower.section_type = type;
    tower.names.prefix =
        "model.vision_tower.vision_model. model.vision_tower. vision_tower.vision_model. "
        "vision_tower.";
    tower.names.final_norm = tower.names.read_out = tower.names.pool = {};
    tower.names.projector = "multi_modal_projector";
    return tower;
}

constexpr ModelFamily with_next(ModelFamily family, const ModelFamily* next) {
    family.next = next;
    return family;
}

constexpr ModelFamily kLlavaSiglip = llava_tower(siglip_tower(true), "siglip_vision_model");
constexpr ModelFamily kLlavaClip =
    with_next(llava_tower(clip_tower(true), "clip_vision_model"), &kLlavaSiglip);

/// A decoder that reads an image among its tokens.
constexpr ModelFamily llava(ModelFamily decoder, std::string_view defaults) {
    decoder.section_type = decoder.kin = decoder.key;
    decoder.key = "llava";
    decoder.text = "LLaVA";
    decoder.section = "text_config";
    decoder.defaults = defaults;
    decoder.second = &kLlavaClip;
    decoder.names.prefix = "model.language_model. language_model.model. language_model.";
    decoder.names.projector = "multi_modal_projector";
    return decoder;
}

constexpr ModelFamily mistral() {
    return with_window(llama("mistral", "Mistral", BiasRule::none, 8), WindowRule::always);
}

constexpr ModelFamily qwen2() {
    return with_window(llama("qwen2", "Qwen 2", BiasRule::of_qkv, 32), WindowRule::switched);
}

constexpr ModelFamily kLlavaQwen2 =
    llava(qwen2(), R"({"vocab_size": 151936, "hidden_size": 4096, "intermediate_size": 22016,
        "num_hidden_layers": 32, "num_attention_heads": 32})");
constexpr ModelFamily kLlavaMistral =
    with_next(llava(mistral(), R"({"vocab_size": 32000, "hidden_size": 4096,
        "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32})"),
              &kLlavaQwen2);
constexpr ModelFamily kLlavaLlama =
    with_next(llava(llama_itself("llama", "Llama"), R"({"vocab_size": 32000, "hidden_size": 4096,
        "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32})"),
              &kLlavaMistral);

constexpr ModelFamily of_two(ModelFamily first, const ModelFamily* second) {
    first.second = second;
    return first;
}

constexpr std::array kFamilies = {
    ModelFamily{.key = "gpt2",
                .text = "GPT-2",
                .epsilon_key = "layer_norm_epsilon",
                .epsilon = 1e-5,
                .tied = true,
                .activation = Activation::gelu_tanh,
                .causal = true,
                .rows_are_inputs = true,
                .read_out = ReadOut::next_token,
                .names = kGpt2},
    ModelFamily{.key = "gpt_neox",
                .text = "GPT-NeoX (Pythia)",
                .epsilon = 1e-5,
                .attention_biases = BiasRule::default_true,
                .qkv_order = QkvOrder::heads,
                .positions = Positions::rope,
                .partial_rope = true,
                .rope_share = 0.25,
                .parallel = true,
                .causal = true,
                .read_out = ReadOut::next_token,
                .names = kNeox},
    llama_itself("llama", "Llama"),
    mistral(),
    mixtral(),
    qwen2(),
    qwen3(),
    phi3(),
    gemma2(),
    gemma3(),
    olmo2(),
    llama_itself("granite", "Granite"),
    gpt_oss(),
    qwen3_moe(),
    qwen2_moe(),
    deepseek_v2(),
    deepseek_v3(),
    qwen3_next(),
    qwen3_5_text(),
    qwen3_5(),
    smollm3(),
    gemma3_in_two(),
    olmo(),
    olmo3(),
    phi(),
    starcoder2(),
    stablelm(),
    cohere(),
    falcon(),
    ModelFamily{.key = "opt",
                .text = "OPT",
                .epsilon_key = "",
                .epsilon = 1e-5,
                .attention_biases = BiasRule::default_true,
                .mlp_biases = BiasRule::default_true,
                .attention_bias_key = "enable_bias",
                .mlp_bias_key = "enable_bias",
                .first_position = 2,
                .tied = true,
                .activation = Activation::relu,
                .causal = true,
                .read_out = ReadOut::next_token,
                .names = kOpt},
    bert("bert", "BERT", "bert."),
    bert("roberta", "RoBERTa", "roberta."),
    bert("xlm-roberta", "XLM-RoBERTa", "roberta."),
    ModelFamily{.key = "megatron-bert",
                .text = "Megatron-BERT",
                .read_out = ReadOut::token_classes,
                .names = kMegatronBert},
    ModelFamily{.key = "modernbert",
                .text = "ModernBERT",
                .epsilon_key = "norm_eps",
                .epsilon = 1e-5,
                .even_heads = true,
                .window = WindowRule::both_sides,
                .window_keys = 128,
                .window_pattern = 3,
                .first_norm = false,
                .attention_biases = BiasRule::if_declared,
                .mlp_biases = BiasRule::if_declared,
                .gated = Gated::halves,
                .positions = Positions::rope,
                .rope_base = 160000.0,
                .window_ropes = true,
                .names = kModernBert},
    mpnet(),
    albert(),
    electra(),
    ModelFamily{.key = "distilbert",
                .text = "DistilBERT",
                .epsilon_key = "",
                .norms_after = true,
                .read_out = ReadOut::token_classes,
                .names = kDistilBert},
    of_two(t5_stack("t5", "T5", false, false), &kT5Second),
    of_two(t5_stack("mt5", "mT5", true, false), &kMt5Second),
    of_two(bart_stack(false, false), &kBartSecond),
    of_two(bart_stack(true, false), &kMarianSecond),
    of_two(whisper_stack(false), &kWhisperSecond),
    of_two(clip_tower(false), &kClipSecond),
    of_two(siglip_tower(false), &kSiglipSecond),
    siglip_vision(),
    kLlavaLlama,
    of_images("vit", "ViT", 1e-12, kVit),
    of_images("deit", "DeiT", 1e-12, deit()),
    of_images("dinov2", "DINOv2", 1e-6, dino()),
    of_images("dinov2_with_registers", "DINOv2 with registers", 1e-6, dino_with_registers()),
    ModelFamily{.key = "use_lite",
                .text = "Universal Sentence Encoder Lite",
                .epsilon = 1e-5,
                // Its graph adds the embedding once more to what already holds it and the waves.
                .embedding_twice = true,
                .positions = Positions::waves,
                .activation = Activation::relu,
                .rows_are_inputs = true,
                .read_out = ReadOut::sentence,
                .names = kUseLite},
};

}  // namespace

std::span<const ModelFamily> model_families() { return kFamilies; }

std::string model_family_text() {
    std::string text;
    for (const ModelFamily& family : kFamilies) {
        if (!text.empty()) text += ", ";
        text += family.text;
    }
    return text;
}

}  // namespace attn
