#!/usr/bin/env python3
"""Folders of every family in many configurations, and their config.json in thousands of variants, against Hugging Face's transformers.

    transformers_table.py make DIR [FAMILY…]       random models and what transformers computes with them: float64, eager
    transformers_table.py variants DIR [FAMILY…]   the same with one key of config.json deleted, nulled, doubled, flipped or added
    transformers_table.py compare DIR ATTNSCOPE [--table FILE] [FAMILY…]

`make` and `variants` need transformers 5 (Debian unstable: python3-transformers), `compare` needs numpy. A folder has config.json,
model.safetensors and expected.npz: ids, lN.weights, lN.residual, logits, generated; or `fault`, why transformers does not compute it.
"""
import contextlib
import copy
import datetime
import io
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile

import numpy

MOST = 5e-5  # largest difference, in units of max(1, the largest number)
IDS = [5, 44, 20, 20, 9, 33, 2, 17, 40, 11, 3]
WRITTEN = [7, 30, 12, 5]  # by a decoder, after its first token
VOCABULARY = 47
BLOCK = re.compile(r"(DecoderLayer|EncoderLayer|GPT2Block|GPTNeoXLayer|AlbertLayer|MPNetLayer|ElectraLayer|BertLayer|RobertaLayer|"
                   r"XLMRobertaLayer|MegatronBertLayer|TransformerBlock|T5Block|MT5Block|ViTLayer|DeiTLayer|Dinov2Layer|Dinov2WithRegistersLayer)$")

LLAMA = {"hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
         "vocab_size": VOCABULARY, "max_position_embeddings": 64, "pad_token_id": None, "bos_token_id": 1, "eos_token_id": 2}
MHA = {**LLAMA, "num_key_value_heads": 4}
BERT = {"hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY,
        "max_position_embeddings": 20, "pad_token_id": 0, "num_labels": 3}
IMAGE = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "image_size": 14, "patch_size": 4}
SIGLIP_IMAGE = {**IMAGE, "intermediate_size": 36}
SIGLIP_TEXT = {"hidden_size": 24, "intermediate_size": 36, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY,
               "max_position_embeddings": 20}
GPT2 = {"n_embd": 24, "n_layer": 2, "n_head": 4, "vocab_size": VOCABULARY, "n_positions": 24, "bos_token_id": 1, "eos_token_id": 2}


def theta(base, kind="default", **more):
    return {"rope_parameters": {"rope_type": kind, "rope_theta": base, **more}}


YARN = theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16)
LLAMA3 = theta(100.0, "llama3", factor=4.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=16)
# What any decoder like Llama may say, each over the family's own base.
COMMON = [{}, {"num_hidden_layers": 1}, {"num_attention_heads": 3, "num_key_value_heads": 1}, {"num_attention_heads": 6, "num_key_value_heads": 6},
          {"tie_word_embeddings": True}, {"tie_word_embeddings": False}, theta(50.0), YARN, LLAMA3, theta(80.0, "linear", factor=3.0),
          {"hidden_act": "gelu"}, {"num_hidden_layers": 3, "intermediate_size": 17, "hidden_size": 20, "num_attention_heads": 2}]
EPS = [{"rms_norm_eps": 0.03}]
BERTS = [{}, {"num_hidden_layers": 1}, {"num_hidden_layers": 3}, {"num_attention_heads": 3}, {"num_attention_heads": 1}, {"hidden_act": "relu"},
         {"hidden_act": "gelu_new"}, {"layer_norm_eps": 0.03}, {"intermediate_size": 17}, {"hidden_size": 20, "num_attention_heads": 2},
         {"vocab_size": 50}, {"max_position_embeddings": 13}, {"num_labels": 5}]


def layers(*kinds):
    return {"layer_types": [{"s": "sliding_attention", "f": "full_attention", "l": "linear_attention"}[k] for k in kinds], "num_hidden_layers": len(kinds)}


# Layers of linear attention, and those of attention with gates.
DELTA = {"hidden_size": 24, "head_dim": 16, "linear_num_key_heads": 2, "linear_num_value_heads": 6, "linear_key_head_dim": 5, "linear_value_head_dim": 7,
         **layers("l", "f", "l", "f")}
DELTAS = [{}, layers("l", "f"), layers("f", "l"), layers("l", "l", "f"), {"num_attention_heads": 3, "num_key_value_heads": 1}, {"tie_word_embeddings": True},
          {"rms_norm_eps": 0.03}, {"head_dim": 8}, {"attention_bias": True}, {"linear_num_key_heads": 3, "linear_num_value_heads": 3}, {"linear_conv_kernel_dim": 2},
          {"linear_num_key_heads": 1, "linear_value_head_dim": 4}, {"linear_conv_kernel_dim": 12, "linear_key_head_dim": 9}, {"hidden_act": "gelu"},
          theta(50.0, partial_rotary_factor=0.5), theta(50.0, partial_rotary_factor=1.0), theta(80.0, "linear", factor=3.0, partial_rotary_factor=0.25)]


# Heads of 5 + 4 columns, values of 6; 8 experts in 4 groups, a dense layer before them.
LATENT = {**LLAMA, "num_key_value_heads": None, "num_hidden_layers": 3, "q_lora_rank": 10, "kv_lora_rank": 7, "qk_nope_head_dim": 5, "qk_rope_head_dim": 4,
          "v_head_dim": 6, "moe_intermediate_size": 13, "n_routed_experts": 8, "n_shared_experts": 2, "num_experts_per_tok": 3, "first_k_dense_replace": 1,
          "n_group": 4, "topk_group": 2, "routed_scaling_factor": 1.7}
LATENTS = [one for one in COMMON if "num_attention_heads" not in one and one != {"num_hidden_layers": 1}] + EPS + [
    {"num_hidden_layers": 1, "first_k_dense_replace": 0}, {"num_attention_heads": 3}, {"q_lora_rank": None}, {"attention_bias": True},
    {"attention_bias": True, "q_lora_rank": None}, {"v_head_dim": 11, "qk_rope_head_dim": 6, "qk_nope_head_dim": 3}, {"first_k_dense_replace": 9},
    {"n_shared_experts": 1, "num_experts_per_tok": 1}, {"n_group": 1, "topk_group": 1}, {"n_group": 2, "topk_group": 1, "n_routed_experts": 6},
    theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.7, mscale_all_dim=0.7),
    theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16, mscale=1.0, mscale_all_dim=0.5)]


# Family: class, base configuration, and what other configurations change.
FAMILIES = {
    "gpt2": ("GPT2LMHeadModel", GPT2, [{}, {"n_layer": 1}, {"n_head": 3}, {"n_inner": 17}, {"activation_function": "relu"},
                                       {"layer_norm_epsilon": 0.03}, {"n_head": 1}, {"tie_word_embeddings": False}, {"n_layer": 3},
                                       {"n_embd": 20, "n_head": 2}, {"n_positions": 11}, {"activation_function": "silu"}]),
    "gpt_neox": ("GPTNeoXForCausalLM", {**{k: v for k, v in LLAMA.items() if k != "num_key_value_heads"}, "hidden_size": 32},
                 [{}, {"num_hidden_layers": 1}, {"num_attention_heads": 2}, {"use_parallel_residual": False}, {"attention_bias": False},
                  {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 1.0}},
                  {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.75}},
                  {"layer_norm_eps": 0.03}, {"hidden_act": "gelu_new"}, {"tie_word_embeddings": True}, {"num_hidden_layers": 3},
                  {"hidden_size": 20, "num_attention_heads": 2, "rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.4}}]),
    "llama": ("LlamaForCausalLM", LLAMA, COMMON + EPS + [{"head_dim": 10}, {"attention_bias": True, "mlp_bias": True}]),
    "mistral": ("MistralForCausalLM", LLAMA, COMMON + EPS + [{"head_dim": 10}, {"sliding_window": 3}, {"sliding_window": None}]),
    "qwen2": ("Qwen2ForCausalLM", LLAMA, COMMON + EPS + [{"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}]),
    "qwen3": ("Qwen3ForCausalLM", {**LLAMA, "head_dim": 8}, COMMON + EPS + [
        {"head_dim": 10}, {"attention_bias": True}, {"use_sliding_window": True, "sliding_window": 3, "max_window_layers": 1}]),
    "phi3": ("Phi3ForCausalLM", LLAMA, [one for one in COMMON if one not in (YARN, LLAMA3)] + EPS + [
        {"sliding_window": 3}, {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.75}}]),
    "granite": ("GraniteForCausalLM", LLAMA, COMMON + EPS + [
        {"attention_bias": True, "mlp_bias": True}, {"embedding_multiplier": 3.0, "residual_multiplier": 0.3, "logits_scaling": 4.0, "attention_multiplier": 0.2}]),
    "mixtral": ("MixtralForCausalLM", {**LLAMA, "num_local_experts": 4, "num_experts_per_tok": 2}, COMMON + EPS + [
        {"head_dim": 10}, {"sliding_window": 3}, {"num_experts_per_tok": 1}, {"num_experts_per_tok": 4}]),
    "gpt_oss": ("GptOssForCausalLM", {**LLAMA, "num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 6, "sliding_window": 3},
                [one for one in COMMON if "hidden_act" not in one] + EPS + [{"head_dim": 10}, layers("f", "s")]),
    "gemma2": ("Gemma2ForCausalLM", {**LLAMA, "head_dim": 6, "sliding_window": 3}, [one for one in COMMON if "hidden_act" not in one] + EPS + [
        {"attn_logit_softcapping": None, "final_logit_softcapping": 2.0}, {"query_pre_attn_scalar": 9}, {"attention_bias": True}, layers("s", "f")]),
    "gemma3_text": ("Gemma3ForCausalLM", {**LLAMA, "head_dim": 6, "sliding_window": 3, **layers("s", "f")}, [
        {}, layers("f"), {"num_attention_heads": 6, "num_key_value_heads": 1}, {"query_pre_attn_scalar": 9}, {"attention_bias": True},
        {"final_logit_softcapping": 2.0}, {"tie_word_embeddings": False}, {"head_dim": 10}, {"rms_norm_eps": 0.03}, {"sliding_window": 5},
        {"hidden_activation": "gelu"}, layers("s", "s", "f"),
        {"rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 30.0},
                             "full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 200.0}}}]),
    "olmo2": ("Olmo2ForCausalLM", LLAMA, COMMON + EPS + [{"attention_bias": True}]),
    "qwen3_moe": ("Qwen3MoeForCausalLM", {**LLAMA, "head_dim": 8, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 13}, COMMON + EPS + [
        {"head_dim": 10, "attention_bias": True}, {"norm_topk_prob": True}, {"use_sliding_window": True, "sliding_window": 3}, {"mlp_only_layers": [0]},
        {"num_hidden_layers": 3, "decoder_sparse_step": 2}, {"num_experts_per_tok": 5}, {"num_experts_per_tok": 1, "norm_topk_prob": True},
        {"num_hidden_layers": 3, "mlp_only_layers": [2], "norm_topk_prob": True}]),
    "qwen2_moe": ("Qwen2MoeForCausalLM", {**LLAMA, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 13,
                                          "shared_expert_intermediate_size": 19}, COMMON + EPS + [
        {"qkv_bias": False}, {"norm_topk_prob": True}, {"mlp_only_layers": [1]}, {"num_hidden_layers": 3, "decoder_sparse_step": 2},
        {"num_hidden_layers": 4, "use_sliding_window": True, "sliding_window": 3, "max_window_layers": 3}, {"head_dim": 10}]),
    "deepseek_v2": ("DeepseekV2ForCausalLM", {**LATENT, "topk_method": "group_limited_greedy"}, LATENTS + [
        {"topk_method": "greedy"}, {"topk_method": "greedy", "n_group": None, "topk_group": None, "routed_scaling_factor": 1.0},
        {"mlp_bias": True, "attention_bias": True, "hidden_act": "gelu", **theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16)}]),
    "deepseek_v3": ("DeepseekV3ForCausalLM", LATENT, LATENTS + [
        {"norm_topk_prob": False}, {"rope_interleave": False}, theta(80.0, "linear", factor=3.0, mscale_all_dim=0.5),
        {"rope_interleave": False, "attention_bias": True, "q_lora_rank": None, "norm_topk_prob": False,
         **theta(100.0, "yarn", factor=4.0, original_max_position_embeddings=16, mscale=0.8, mscale_all_dim=0.7)}]),
    "qwen3_next": ("Qwen3NextForCausalLM", {**LLAMA, **DELTA, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 13,
                                            "shared_expert_intermediate_size": 19}, DELTAS + [
        {"norm_topk_prob": False}, {"mlp_only_layers": [0, 1]}, {"decoder_sparse_step": 2}, {"num_experts_per_tok": 5}]),
    "qwen3_5_text": ("Qwen3_5ForCausalLM", {**LLAMA, **DELTA}, DELTAS),
    "qwen3_5": ("Qwen3_5ForConditionalGeneration", {
        "text_config": {**LLAMA, **DELTA}, "image_token_id": 46, "video_token_id": 45, "vision_start_token_id": 44, "vision_end_token_id": 43,
        "vision_config": {"depth": 1, "hidden_size": 8, "intermediate_size": 8, "num_heads": 2, "patch_size": 4, "out_hidden_size": 24,
                          "num_position_embeddings": 16}},
        [{"text_config": one} for one in DELTAS if "tie_word_embeddings" not in one] + [{"tie_word_embeddings": True}]),
    "smollm3": ("SmolLM3ForCausalLM", {**LLAMA, "num_hidden_layers": 4}, COMMON + EPS + [
        {"no_rope_layers": [0, 1, 1, 0]}, {"no_rope_layer_interval": 2}, {"attention_bias": True, "mlp_bias": True}, {"head_dim": 10},
        {"use_sliding_window": True, "sliding_window": 3}, {"use_sliding_window": True, "sliding_window": 3, **layers("s", "f", "f", "s")},
        {"use_sliding_window": False, "sliding_window": 3, **layers("f", "s", "f", "s")}, {"num_key_value_heads": None}]),
    "olmo": ("OlmoForCausalLM", LLAMA, COMMON + [{"attention_bias": True}, {"head_dim": 10}, {"num_key_value_heads": None}]),
    "olmo3": ("Olmo3ForCausalLM", {**LLAMA, "num_hidden_layers": 4, "sliding_window": 3}, COMMON + EPS + [
        {"attention_bias": True}, {**layers("f", "s"), "sliding_window": 4}, {"head_dim": 10}, {"num_key_value_heads": None}]),
    "phi": ("PhiForCausalLM", {**LLAMA, "hidden_size": 32}, [COMMON[n] for n in (0, 1, 4, 5, 10)] + [
        {"num_attention_heads": 2}, {"num_attention_heads": 8, "num_key_value_heads": 1},
        {"qk_layernorm": True}, {"layer_norm_eps": 0.03}, {"num_key_value_heads": None}, {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 1.0}},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 0.75}},
        {"rope_parameters": {"rope_type": "linear", "factor": 3.0, "rope_theta": 50.0, "partial_rotary_factor": 0.75}},
        {"rope_parameters": {"rope_type": "yarn", "factor": 3.0, "rope_theta": 50.0, "partial_rotary_factor": 0.75, "original_max_position_embeddings": 16}}]),
    "starcoder2": ("Starcoder2ForCausalLM", LLAMA, COMMON + [
        {"use_bias": False}, {"sliding_window": 3}, {"norm_epsilon": 0.03}, {"head_dim": 10}, {"hidden_act": "relu"}]),
    "stablelm": ("StableLmForCausalLM", {**LLAMA, "hidden_size": 32}, [COMMON[n] for n in (0, 1, 4, 5, 10)] + [
        {"num_attention_heads": 2}, {"num_attention_heads": 1, "num_key_value_heads": 1},
        {"use_qkv_bias": True}, {"use_parallel_residual": True}, {"layer_norm_eps": 0.03}, {"num_hidden_layers": 3, "use_parallel_residual": True, "use_qkv_bias": True},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 50.0, "partial_rotary_factor": 1.0}},
        {"rope_parameters": {"rope_type": "yarn", "factor": 3.0, "rope_theta": 50.0, "partial_rotary_factor": 0.5, "original_max_position_embeddings": 16}}]),
    "cohere": ("CohereForCausalLM", LLAMA, COMMON + [
        {"logit_scale": 0.5}, {"attention_bias": True}, {"layer_norm_eps": 0.03}, {"head_dim": 10}, {"num_key_value_heads": None}]),
    "falcon": ("FalconForCausalLM", {k: v for k, v in LLAMA.items() if k not in ("num_key_value_heads", "intermediate_size")}, [
        {}, {"num_hidden_layers": 1}, {"multi_query": False}, {"parallel_attn": False}, {"bias": True}, {"new_decoder_architecture": True, "num_kv_heads": 2},
        {"new_decoder_architecture": True, "num_kv_heads": 2, "num_ln_in_parallel_attn": 1}, {"new_decoder_architecture": True, "num_kv_heads": 4, "bias": True},
        {"tie_word_embeddings": False}, {"layer_norm_epsilon": 0.03}, theta(50.0), {"ffn_hidden_size": 17, "activation": "relu"},
        {"parallel_attn": False, "multi_query": False, "bias": True, "num_hidden_layers": 3}, LLAMA3, {"num_attention_heads": 3}]),
    "opt": ("OPTForCausalLM", {"hidden_size": 24, "ffn_dim": 36, "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": VOCABULARY,
                               "max_position_embeddings": 20, "pad_token_id": 1, "bos_token_id": 2, "eos_token_id": 2, "word_embed_proj_dim": 24}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"enable_bias": False}, {"layer_norm_elementwise_affine": False},
        {"tie_word_embeddings": False}, {"activation_function": "gelu"}, {"ffn_dim": 17}, {"num_hidden_layers": 3}, {"max_position_embeddings": 11},
        {"hidden_size": 20, "word_embed_proj_dim": 20, "num_attention_heads": 2}, {"num_attention_heads": 1, "enable_bias": False}]),
    "gemma3": ("Gemma3ForConditionalGeneration", {"text_config": {**LLAMA, "head_dim": 6, "sliding_window": 3, **layers("s", "f")},
                                                  "vision_config": {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1,
                                                                    "num_attention_heads": 2, "image_size": 16, "patch_size": 4},
                                                  "mm_tokens_per_image": 16, "image_token_index": 46, "boi_token_index": 45, "eoi_token_index": 44}, [
        {"text_config": one} for one in (
            {}, layers("f"), {"num_attention_heads": 6, "num_key_value_heads": 1}, {"query_pre_attn_scalar": 9}, {"attention_bias": True},
            {"final_logit_softcapping": 2.0}, {"head_dim": 10}, {"rms_norm_eps": 0.03}, {"sliding_window": 5}, {"hidden_activation": "gelu"},
            layers("s", "s", "f"), {"rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 30.0},
                                                         "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 200.0}}})]
        + [{"tie_word_embeddings": False}]),
    "modernbert": ("ModernBertModel", {"hidden_size": 24, "intermediate_size": 17, "num_hidden_layers": 4, "num_attention_heads": 4, "vocab_size": VOCABULARY,
                                       "max_position_embeddings": 64, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1,
                                       "sep_token_id": 2, "local_attention": 6}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"num_attention_heads": 1}, {"local_attention": 3}, {"local_attention": 2}, {"norm_bias": True},
        {"attention_bias": True}, {"mlp_bias": True}, {"norm_eps": 0.03}, {"hidden_activation": "silu"}, {**layers("s", "f", "s")},
        {"rope_parameters": {"sliding_attention": {"rope_type": "default", "rope_theta": 30.0}, "full_attention": {"rope_type": "default", "rope_theta": 200.0}}},
        {"intermediate_size": 36, "hidden_size": 20, "num_attention_heads": 2}]),
    "bart": ("BartForConditionalGeneration", {"d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 3,
                                              "encoder_ffn_dim": 36, "decoder_ffn_dim": 17, "vocab_size": VOCABULARY, "max_position_embeddings": 20,
                                              "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}, [
        {}, {"encoder_layers": 1}, {"decoder_layers": 1}, {"encoder_attention_heads": 1}, {"decoder_attention_heads": 6}, {"scale_embedding": True},
        {"tie_word_embeddings": False}, {"activation_function": "relu"}, {"activation_function": "gelu_new"}, {"encoder_ffn_dim": 13}, {"decoder_start_token_id": 0},
        {"max_position_embeddings": 11}, {"d_model": 20, "encoder_attention_heads": 2, "decoder_attention_heads": 1, "scale_embedding": True}]),
    "marian": ("MarianMTModel", {"d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 3,
                                 "encoder_ffn_dim": 36, "decoder_ffn_dim": 17, "vocab_size": VOCABULARY, "max_position_embeddings": 20,
                                 "pad_token_id": 46, "eos_token_id": 0, "decoder_start_token_id": 46, "scale_embedding": True}, [
        {}, {"encoder_layers": 1}, {"decoder_layers": 1}, {"encoder_attention_heads": 1}, {"decoder_attention_heads": 6}, {"scale_embedding": False},
        {"activation_function": "swish"}, {"activation_function": "relu"}, {"encoder_ffn_dim": 13}, {"decoder_start_token_id": 1},
        {"max_position_embeddings": 11}, {"d_model": 20, "encoder_attention_heads": 2, "decoder_attention_heads": 1}, {"tie_word_embeddings": False}]),
    "whisper": ("WhisperForConditionalGeneration", {
        "d_model": 24, "encoder_layers": 2, "decoder_layers": 3, "encoder_attention_heads": 4, "decoder_attention_heads": 3, "encoder_ffn_dim": 36,
        "decoder_ffn_dim": 17, "vocab_size": VOCABULARY, "num_mel_bins": 10, "max_source_positions": 50, "max_target_positions": 12,
        "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 3, "suppress_tokens": None, "begin_suppress_tokens": None}, [
        {}, {"encoder_layers": 1}, {"decoder_layers": 1}, {"encoder_attention_heads": 1}, {"decoder_attention_heads": 6}, {"scale_embedding": True},
        {"num_mel_bins": 80}, {"max_source_positions": 100}, {"activation_function": "relu"}, {"encoder_ffn_dim": 13}, {"decoder_start_token_id": 0},
        {"max_target_positions": 5}, {"d_model": 20, "encoder_attention_heads": 2, "decoder_attention_heads": 1}]),
    "t5": ("T5ForConditionalGeneration", {"d_model": 24, "d_kv": 6, "d_ff": 36, "num_layers": 2, "num_decoder_layers": 3, "num_heads": 4, "vocab_size": VOCABULARY,
                                          "pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}, [
        {}, {"num_layers": 1}, {"num_decoder_layers": 1}, {"num_heads": 1}, {"d_kv": 10}, {"feed_forward_proj": "gated-gelu"}, {"feed_forward_proj": "gated-silu"},
        {"tie_word_embeddings": False}, {"layer_norm_epsilon": 0.03}, {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 9}, {"d_ff": 13},
        {"decoder_start_token_id": 3}, {"feed_forward_proj": "gelu"}]),
    "bert": ("BertForTokenClassification", BERT, BERTS + [{"type_vocab_size": 1}]),
    "roberta": ("RobertaForTokenClassification", {**BERT, "pad_token_id": 1}, BERTS),
    "xlm-roberta": ("XLMRobertaForTokenClassification", {**BERT, "pad_token_id": 1}, BERTS + [{"pad_token_id": 3}]),
    "megatron-bert": ("MegatronBertForTokenClassification", BERT, BERTS),
    "mpnet": ("MPNetForTokenClassification", {**BERT, "pad_token_id": 1}, BERTS),
    "albert": ("AlbertForTokenClassification", {**BERT, "embedding_size": 14}, BERTS + [
        {"embedding_size": 24}, {"num_hidden_layers": 5, "num_hidden_groups": 2}, {"num_hidden_layers": 3, "num_hidden_groups": 3}]),
    "electra": ("ElectraForTokenClassification", {**BERT, "embedding_size": 14}, BERTS + [{"embedding_size": 24}, {"type_vocab_size": 1}]),
    "distilbert": ("DistilBertForTokenClassification", {"dim": 24, "hidden_dim": 36, "n_layers": 2, "n_heads": 4, "vocab_size": VOCABULARY, "max_position_embeddings": 20,
                                                        "pad_token_id": 0, "num_labels": 3}, [
        {}, {"n_layers": 1}, {"n_heads": 3}, {"n_heads": 1}, {"activation": "relu"}, {"hidden_dim": 17}, {"n_layers": 3}, {"dim": 20, "n_heads": 2},
        {"vocab_size": 50}, {"max_position_embeddings": 13}, {"num_labels": 5}, {"n_heads": 6}]),
    "siglip": ("SiglipModel", {"text_config": SIGLIP_TEXT, "vision_config": SIGLIP_IMAGE}, [{}, *(
        {part: one} for part in ("text_config", "vision_config") for one in (
            {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"}, {"intermediate_size": 17})),
        {"text_config": {"max_position_embeddings": 11}}, {"text_config": {"hidden_size": 20, "num_attention_heads": 2, "projection_size": 24}},
        {"vision_config": {"patch_size": 7, "image_size": 16}}, {"vision_config": {"num_hidden_layers": 3}, "text_config": {"num_attention_heads": 1}}]),
    "siglip_vision_model": ("SiglipVisionModel", SIGLIP_IMAGE, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"patch_size": 7}, {"num_channels": 3}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"},
        {"intermediate_size": 17}, {"image_size": 16}, {"num_hidden_layers": 3}, {"hidden_size": 20, "num_attention_heads": 2}, {"num_attention_heads": 1}]),
    "llava": ("LlavaForConditionalGeneration", {
        "text_config": {"model_type": "llama", **LLAMA}, "vision_config": {"model_type": "clip_vision_model", **IMAGE, "intermediate_size": 36},
        "image_token_index": 46}, [
        {}, {"vision_feature_select_strategy": "full"}, {"vision_feature_layer": -1}, {"vision_feature_layer": 1}, {"vision_feature_layer": 0},
        {"vision_feature_layer": [-2, 2]}, {"vision_feature_layer": [-1, 0, 1], "vision_feature_select_strategy": "full"},
        {"projector_hidden_act": "gelu_new"}, {"projector_hidden_act": "relu", "multimodal_projector_bias": False},
        {"text_config": {"num_attention_heads": 3, "num_key_value_heads": 1}}, {"text_config": {"num_key_value_heads": 4, "attention_bias": True}},
        {"text_config": {"model_type": "mistral", "sliding_window": 3}}, {"text_config": {"model_type": "mistral", "sliding_window": None, "head_dim": 10}},
        {"text_config": {"model_type": "qwen2"}}, {"text_config": {"tie_word_embeddings": True}}, {"tie_word_embeddings": True},
        {"text_config": {"hidden_size": 20, "num_attention_heads": 2, **YARN}}, {"text_config": {"num_hidden_layers": 3, "rms_norm_eps": 0.03, **LLAMA3}},
        {"vision_config": {"image_size": 20}}, {"vision_config": {"patch_size": 7}}, {"vision_config": {"image_size": 15, "patch_size": 5, "hidden_act": "gelu"}},
        {"vision_config": {"num_hidden_layers": 1}}, {"vision_config": {"num_hidden_layers": 3, "num_attention_heads": 3, "layer_norm_eps": 0.03}},
        {"vision_config": {"model_type": "siglip_vision_model"}, "vision_feature_select_strategy": "full", "vision_feature_layer": -1},
        {"vision_config": {"model_type": "siglip_vision_model"}, "vision_feature_select_strategy": "full", "vision_feature_layer": [-2, -1],
         "text_config": {"model_type": "qwen2", "tie_word_embeddings": True}},
        {"vision_config": {"model_type": "siglip_vision_model"}, "vision_feature_layer": -1}]),
    "vit": ("ViTForImageClassification", {**IMAGE, "intermediate_size": 36, "num_labels": 3}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"patch_size": 7}, {"qkv_bias": False}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"},
        {"num_labels": 5}, {"intermediate_size": 17}, {"image_size": 16}, {"num_hidden_layers": 3}, {"hidden_size": 20, "num_attention_heads": 2}]),
    "deit": ("DeiTModel", {**IMAGE, "intermediate_size": 36}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"patch_size": 7}, {"qkv_bias": False}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"},
        {"intermediate_size": 17}, {"image_size": 16}, {"num_hidden_layers": 3}, {"hidden_size": 20, "num_attention_heads": 2}, {"num_attention_heads": 1}]),
    "dinov2": ("Dinov2Model", {**IMAGE, "mlp_ratio": 2}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"patch_size": 7}, {"qkv_bias": False}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"},
        {"mlp_ratio": 3}, {"image_size": 16}, {"num_hidden_layers": 3}, {"hidden_size": 20, "num_attention_heads": 2}, {"num_attention_heads": 1}]),
    "dinov2_with_registers": ("Dinov2WithRegistersModel", {**IMAGE, "mlp_ratio": 2}, [
        {}, {"num_hidden_layers": 1}, {"num_attention_heads": 3}, {"patch_size": 7}, {"qkv_bias": False}, {"layer_norm_eps": 0.03}, {"hidden_act": "relu"},
        {"mlp_ratio": 3}, {"image_size": 16}, {"num_register_tokens": 1}, {"num_register_tokens": 7, "num_hidden_layers": 3},
        {"hidden_size": 20, "num_attention_heads": 2}, {"num_register_tokens": 0}]),
}
PAIRS = ("siglip", "llava")  # that read a text and an image
# Settings of other architectures, each added alone to every family: a key that the family does not read must change nothing.
ADDED = {"alibi": True, "attention_bias": True, "attention_multiplier": 0.5, "attn_logit_softcapping": 2.0, "clip_qkv": 0.1, "embedding_multiplier": 2.0,
         "embedding_size": 14, "final_logit_softcapping": 1.5, "first_k_dense_replace": 1, "head_dim": 10, "hidden_act": "relu", "activation_function": "relu",
         "hidden_activation": "relu", "is_decoder": True, "kv_lora_rank": 8, "layer_norm_eps": 0.1, "layer_norm_epsilon": 0.1, "layer_types": ["sliding_attention"] * 2,
         "local_attention": 2, "logit_scale": 0.5, "logits_scaling": 2.0, "mlp_bias": True, "multi_query": True, "n_positions": 30, "new_decoder_architecture": True,
         "no_rope_layers": [0, 1, 0, 1], "norm_bias": True, "norm_eps": 0.1, "norm_epsilon": 0.1, "num_experts": 4, "num_key_value_heads": 1, "num_local_experts": 4,
         "parallel_attn": True, "partial_rotary_factor": 0.5, "q_lora_rank": 8, "qk_layernorm": True, "qkv_bias": False, "query_pre_attn_scalar": 3,
         "relative_attention_num_buckets": 16, "residual_multiplier": 0.5, "rms_norm_eps": 0.1, "rope_interleave": True, "rope_scaling": {"rope_type": "linear", "factor": 2.0},
         "rope_theta": 33.0, "rotary_emb_base": 33.0, "rotary_pct": 0.5, "scale_attn_by_inverse_layer_idx": True, "scale_embedding": True, "sliding_window": 2,
         "sliding_window_pattern": 2, "tie_word_embeddings": True, "use_bias": False, "use_bidirectional_attention": True, "use_parallel_residual": True,
         "use_qk_norm": True, "use_qkv_bias": True, "use_sliding_window": True, "word_embed_proj_dim": 14, "is_causal": False, "max_window_layers": 1,
         "global_rope_theta": 20.0, "local_rope_theta": 20.0, "rope_local_base_freq": 20.0, "global_attn_every_n_layers": 2, "num_register_tokens": 2,
         "norm_topk_prob": True, "mlp_only_layers": [0], "enable_bias": False, "do_layer_norm_before": False, "bias": True, "use_swiglu_ffn": True}


# ---- transformers

def merged(base, change):
    made = copy.deepcopy(base)
    for key, value in change.items():
        made[key] = merged(made[key], value) if isinstance(value, dict) and key in ("text_config", "vision_config") else copy.deepcopy(value)
    return made


def randomised(model, seed):
    import torch
    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, p in model.named_parameters():
            fan = p[0].numel() if p.dim() > 1 else 1
            noise = torch.randn(p.shape, generator=g)
            p.copy_(noise * (1.6 / fan ** 0.5 if "embed" not in name and "wte" not in name else 0.7) if p.dim() > 1
                    else noise * 0.2 + (p if p.dtype.is_floating_point and p.abs().max() > 0.5 else 0.0))
            if name.endswith("A_log"):  # else nothing of the tokens before is left
                p.copy_(noise * 0.5 - 2.0)
        for name, p in model.named_buffers():
            if name.endswith("e_score_correction_bias"):
                p.copy_(torch.randn(p.shape, generator=g) * 0.2)


def delta_nets(model):
    return [module for module in model.modules() if type(module).__name__.endswith("GatedDeltaNet")]


def implied_weights(model):
    """Of every gated delta net the matrix that its values are multiplied by, made in the next run: its own function of the identity as values."""
    import torch
    found = []

    def of_identity(rule):
        def call(query, key, value, **options):
            tokens, heads = value.shape[1:3]
            identity = torch.eye(tokens, dtype=value.dtype)[None, :, None].expand(1, tokens, heads, tokens)
            found.append(rule(query, key, identity, **{**options, "output_final_state": False})[0].transpose(1, 2))
            return rule(query, key, value, **options)
        return call
    for module in delta_nets(model):
        module.chunk_gated_delta_rule = of_identity(module.chunk_gated_delta_rule)
    return found


def each_weights(model, attentions, implied):
    """Of every layer."""
    if not implied:
        return attentions
    attentions, implied = iter(attentions), iter(list(implied))
    return [next(implied if kind == "linear_attention" else attentions) for kind in model.config.get_text_config().layer_types]


def run(model, folder, generates):
    """What transformers gives: lN.weights, lN.residual, logits, generated."""
    import torch
    found, outputs = {}, []
    keep = lambda _, __, got: outputs.append(got[0] if isinstance(got, tuple) else got)
    kind = model.config.model_type
    blocks = [m for m in model.modules()
              if BLOCK.search(type(m).__name__) and ("Siglip" not in type(m).__name__ or kind.startswith("siglip") or kind == "llava")]
    hooks = [m.register_forward_hook(keep) for m in blocks]
    image = (folder / "image.png").exists()
    if image:
        from PIL import Image
        size = json.loads((folder / "config.json").read_text())
        size = (size["vision_config"] if kind in PAIRS else size)["image_size"]
        pixels = numpy.asarray(Image.open(folder / "image.png").resize((size, size), Image.BILINEAR), dtype=numpy.float64)
        reads = {"pixel_values": torch.tensor((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)[None]}
    elif (folder / "sound.wav").exists():
        reads = {"input_features": features(model.config, folder / "sound.wav")}
    else:
        reads = {"input_ids": torch.tensor(IDS)[None]}
    if kind in PAIRS:
        reads["input_ids"] = torch.tensor(IDS)[None]
    if kind == "llava":
        with torch.no_grad():
            image_tokens = [model.config.image_token_id] * len(model.get_image_features(reads["pixel_values"], **read_as(model)).pooler_output[0])
        reads["input_ids"] = torch.tensor(IDS[:3] + image_tokens + IDS[3:])[None]
        outputs.clear()
    pair = getattr(model.config, "is_encoder_decoder", False)
    if pair:
        reads["decoder_input_ids"] = torch.tensor([[model.config.decoder_start_token_id, *WRITTEN]])
    implied = implied_weights(model)
    with torch.no_grad():
        answer = model(**reads, output_attentions=True)
    for hook in hooks:
        hook.remove()
    if pair:
        count = len(answer.encoder_attentions)
        for kind, all_weights, residuals in (("l", answer.encoder_attentions, outputs[:count]), ("d", answer.decoder_attentions, outputs[count:]),
                                             ("c", answer.cross_attentions, [])):
            found.update({f"{kind}{n}.weights": weights.double().numpy() for n, weights in enumerate(all_weights)})
            found.update({f"{kind}{n}.residual": residual.double().numpy()[None] for n, residual in enumerate(residuals)})
        found["logits"] = answer.logits.double().numpy()
        return found
    if kind == "llava":  # the decoder's layers are l0, …, those of the tower, which ran first, i0, …
        with torch.no_grad():
            images = model.model.vision_tower(reads["pixel_values"], output_attentions=True).attentions
        for n, weights in enumerate(images):
            found[f"i{n}.weights"] = weights.double().numpy()
            found[f"i{n}.residual"] = outputs.pop(0).double().numpy()[None]
    if kind == "siglip":  # texts' layers are l0, …, those of images i0, …; the latter ran first
        images, texts = answer.vision_model_output.attentions, answer.text_model_output.attentions
        for part, all_weights, residuals in (("i", images, outputs[:len(images)]), ("l", texts, outputs[len(images):])):
            assert len(all_weights) == len(residuals)
            found.update({f"{part}{n}.weights": weights.double().numpy() for n, weights in enumerate(all_weights)})
            found.update({f"{part}{n}.residual": residual.double().numpy()[None] for n, residual in enumerate(residuals)})
        found.update({"i.embedding": answer.image_embeds.numpy(), "l.embedding": answer.text_embeds.numpy(), "m0.biased": answer.logits_per_image.numpy()})
        return found
    if kind == "siglip_vision_model":
        found["l.embedding"] = torch.nn.functional.normalize(answer.pooler_output.double()).numpy()
    for n, weights in enumerate(each_weights(model, answer.attentions, implied)):
        found[f"l{n}.weights"] = weights.double().numpy()
    for n, residual in enumerate(outputs):
        found[f"l{n}.residual"] = residual.double().reshape(1, 1, -1, residual.shape[-1]).numpy()
    assert len(outputs) == len(answer.attentions) + len(implied), (len(outputs), len(answer.attentions))
    if hasattr(answer, "logits") and answer.logits is not None:
        found["logits"] = answer.logits.double().numpy()
        if hasattr(model, "generate") and model.can_generate() and generates:
            with torch.no_grad(), contextlib.redirect_stderr(io.StringIO()):
                read = 5 + (len(image_tokens) if kind == "llava" else 0)
                made = model.generate(**{**reads, "input_ids": reads["input_ids"][:, :read]}, attention_mask=torch.ones(1, read, dtype=torch.long),
                                      max_new_tokens=5, do_sample=False, eos_token_id=-1, pad_token_id=0)
            found["generated"] = made[0, read:].numpy()
    return found


def read_as(model):
    """Which hidden states of the tower a decoder of images reads."""
    return {key: getattr(model.config, key) for key in ("vision_feature_layer", "vision_feature_select_strategy")}


def opened(folder, cls, left_out=("pooler", "vision_tower")):
    """The model, or an error: of weights that are not in the file transformers makes random ones, so it has no reference."""
    import torch
    model, info = cls.from_pretrained(folder, attn_implementation="eager", dtype=torch.float64, output_loading_info=True, local_files_only=True,
                                      **({"experts_implementation": "eager"} if "expert" in (folder / "config.json").read_text() else {}))
    if cls.__name__.startswith("Llava"):
        left_out = ("pooler", "post_layernorm", ".head.")
    lost = [key for key in [*info["missing_keys"], *map(str, info["mismatched_keys"])] if not any(part in key for part in left_out)]
    if lost:
        raise ValueError(f"weights are missing: {lost[0]}")
    for module in model.modules():
        if type(module).__name__ == "DeepseekV2Moe":  # whose group_limited_greedy reads what 5.12.1 does not set
            module.num_experts = model.config.n_routed_experts
    return model.eval()


def write_image(folder, seed):
    from PIL import Image
    Image.fromarray(numpy.random.default_rng(seed).integers(0, 256, (23, 23, 3), numpy.uint8)).save(folder / "image.png")


def write_sound(folder, seed, seconds=1.3):
    """Two tones that rise and fall, and noise; 16 bits at 16 kHz."""
    import wave
    t = numpy.arange(int(16000 * seconds)) / 16000
    sound = 0.3 * numpy.sin(2 * numpy.pi * (200 + 40 * seed + 300 * t) * t) + 0.2 * numpy.sin(9000 * t) * (t < 0.7)
    sound += numpy.random.default_rng(seed).normal(0, 0.02, t.shape)
    with wave.open(str(folder / "sound.wav"), "wb") as file:
        file.setnchannels(1), file.setsampwidth(2), file.setframerate(16000)
        file.writeframes((sound * 32767).astype("<i2").tobytes())


def features(config, path):
    """By Whisper's own feature extractor, in NumPy."""
    import torch
    import transformers
    import wave
    with wave.open(str(path)) as file:
        samples = numpy.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768
    made = transformers.WhisperFeatureExtractor(feature_size=config.num_mel_bins, chunk_length=config.max_source_positions // 50)
    heard = numpy.zeros(made.n_samples)
    heard[:len(samples)] = samples[:made.n_samples]
    return torch.tensor(numpy.asarray(made._np_extract_fbank_features(heard[None], "cpu"), dtype=numpy.float64))


def expected(folder, cls, generates):
    try:
        with contextlib.redirect_stderr(io.StringIO()):
            found = run(opened(folder, cls), folder, generates)
    except BaseException as fault:  # noqa: B902 - whatever the fault, transformers gives no number
        if isinstance(fault, KeyboardInterrupt):
            raise
        found = {"fault": numpy.array(f"{type(fault).__name__}: {fault}"[:200])}
    numpy.savez(folder / "expected.npz", **found)
    return "fault" not in found


def make(folder, families):
    import torch
    import transformers
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    (folder / "versions.json").write_text(json.dumps({"transformers": transformers.__version__, "torch": torch.__version__.split("+")[0],
                                                      "date": str(datetime.date.today())}))
    for family in families or FAMILIES:
        name, base, changes = FAMILIES[family]
        cls = getattr(transformers, name)
        shutil.rmtree(folder / family, ignore_errors=True)
        for n, change in enumerate(changes):
            at = folder / family / f"{n:02}"
            at.mkdir(parents=True)
            torch.manual_seed(n)
            try:
                model = cls(cls.config_class(**merged(base, change)))
            except Exception as fault:
                print(f"{family} {n} {change}: transformers has no such model: {fault}")
                shutil.rmtree(at)
                continue
            randomised(model, 100 + n)
            model.save_pretrained(at)
            (at / "generation_config.json").unlink(missing_ok=True)
            (at / "change.json").write_text(json.dumps(change))
            if "num_mel_bins" in base:
                write_sound(at, n)
            if "image_size" in base or family in PAIRS:
                write_image(at, n)
                size = getattr(model.config, "vision_config", model.config).image_size
                (at / "preprocessor_config.json").write_text(json.dumps(
                    {"image_mean": [0.5] * 3, "image_std": [0.5] * 3, "size": {"height": size, "width": size},
                     "resample": 2, "rescale_factor": 1 / 255, **({"do_center_crop": False} if family == "llava" else {})}))
            if not expected(at, cls, True):
                print(f"{family} {n} {change}: {numpy.load(at / 'expected.npz')['fault']}")
        print(family, len(list((folder / family).iterdir())), flush=True)


SKIPPED = {"model_type", "architectures", "transformers_version", "dtype", "torch_dtype", "id2label", "label2id", "vision_config", "_name_or_path"}


def mutations(config, path=()):
    """(what, path, change of the object that has it)."""
    for key, value in config.items():
        if key in SKIPPED and not (key == "vision_config" and config.get("model_type") in PAIRS):
            continue
        at = (*path, key)
        yield "deleted", at, lambda o, k=key: o.pop(k)
        yield "nulled", at, lambda o, k=key: o.__setitem__(k, None)
        if isinstance(value, bool):
            yield "flipped", at, lambda o, k=key, v=value: o.__setitem__(k, not v)
        elif isinstance(value, (int, float)):
            kind = type(value)
            yield "doubled", at, lambda o, k=key, v=value: o.__setitem__(k, kind(2 * v))
            yield "halved", at, lambda o, k=key, v=value: o.__setitem__(k, kind(v / 2))
            yield "one more", at, lambda o, k=key, v=value: o.__setitem__(k, v + 1)
            yield "nought", at, lambda o, k=key: o.__setitem__(k, kind(0))
        elif isinstance(value, str):
            for other in ("relu", "gelu", "silu", "linear", "dynamic", "full_attention", "none"):
                if other != value:
                    yield f"'{other}'", at, lambda o, k=key, v=other: o.__setitem__(k, v)
        elif isinstance(value, list):
            yield "emptied", at, lambda o, k=key: o.__setitem__(k, [])
            yield "reversed", at, lambda o, k=key, v=value: o.__setitem__(k, v[::-1])
            if value and isinstance(value[0], str):
                yield "first kind", at, lambda o, k=key, v=value: o.__setitem__(k, [v[0]] * len(v))
        elif isinstance(value, dict):
            yield from mutations(value, at)
        if value is None:
            for other in (1, 3, True, 0.5):
                yield f"{other}", at, lambda o, k=key, v=other: o.__setitem__(k, v)


def variants(folder, families):
    import torch
    import transformers
    torch.set_num_threads(1)
    resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))  # a missing size is that of a large model
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for family in families or FAMILIES:
        name, base, changes = FAMILIES[family]
        cls = getattr(transformers, name)
        out = folder / f"{family}~"
        shutil.rmtree(out, ignore_errors=True)
        count = 0
        sources = sorted((folder / family).iterdir())
        for source, every in ((sources[0], 1), (sources[-1], 3)):  # the last uses more of what there is
            config = json.loads((source / "config.json").read_text())
            added = [(f"{value}", (key,), lambda o, k=key, v=value: o.__setitem__(k, v)) for key, value in ADDED.items() if key not in config]
            for what, path, change in [*mutations(config), *added][::every]:
                at = out / f"{count:04}"
                at.mkdir(parents=True)
                made = copy.deepcopy(config)
                inside = made
                for key in path[:-1]:
                    inside = inside[key]
                change(inside)
                (at / "config.json").write_text(json.dumps(made))
                (at / "change.json").write_text(json.dumps({".".join(path): what}))
                for file in ("model.safetensors", "image.png", "sound.wav", "preprocessor_config.json"):
                    if (source / file).exists():
                        os.link(source / file, at / file)
                expected(at, cls, False)
                count += 1
        print(family, count, flush=True)


# ---- attnscope

def difference(ours, theirs):
    if ours.shape != theirs.shape:
        return f"shape {list(ours.shape)}, expected {list(theirs.shape)}"
    worst = float(numpy.abs(ours - theirs).max()) / max(1.0, float(numpy.abs(theirs).max()))
    return worst if worst == worst else float("inf")


def compared(folder, attnscope, generates):
    """("right", difference), ("refused", sentence), ("wrong", what) or ("no reference", …)."""
    with numpy.load(folder / "expected.npz") as file:
        theirs = dict(file)
    with tempfile.TemporaryDirectory() as scratch:
        out = pathlib.Path(scratch) / "out.npz"
        image, sound = folder / "image.png", folder / "sound.wav"
        reads = ["--image", image] if image.exists() else ["--audio", sound] if sound.exists() else ["--token-ids", ",".join(map(str, IDS))]
        ours = {}
        config = json.loads((folder / "config.json").read_text())
        kind = config.get("model_type")
        towers = kind == "siglip"
        ids, image_token = list(IDS), []
        if kind == "llava":
            image_token = [next((config[key] for key in ("image_token_index", "image_token_id") if config.get(key) is not None), 32000)]
            ids[3:3] = image_token
        if kind in PAIRS:
            reads += ["--token-ids", ",".join(map(str, ids))]
        decodes = any(key[0] == "d" and "." in key for key in theirs)
        for group, kind in ((("text", "l"), ("image", "i"), ("match", "m")) if towers else (("text", "l"), ("image", "i")) if image_token else
                            (("encoder", "l"), ("decoder", "d"), ("cross", "c")) if decodes else ((None, "l"),)):
            of_group = ["--group", group] if group else []
            if decodes and group != "encoder":
                of_group += ["--decoder", " ".join(map(str, WRITTEN))]
            done = subprocess.run([*attnscope, "trace", "--model", folder, *reads, *of_group, "--keep", "biased" if kind == "m" else "weights", "-o", out],
                                  capture_output=True, text=True)
            if done.returncode != 0:
                return ("refused" if done.returncode == 2 else "wrong", done.stderr.strip().splitlines()[-1] if done.stderr else str(done.returncode))
            with numpy.load(out) as file:
                ours.update({kind + key[1:] if key[0] == "l" and "." in key else f"{kind}.{key}" if key == "embedding" else key: value
                             for key, value in file.items()})
        if any(key.endswith(".weights") and key not in ours for key in theirs):  # of layers of linear attention, the other group
            done = subprocess.run([*attnscope, "trace", "--model", folder, *reads, "--group", "linear", "--keep", "weights", "-o", out],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                with numpy.load(out) as file:
                    ours.update(file)
        if "fault" in theirs:
            return "no reference", str(theirs["fault"])
        worst = 0.0
        for key, value in theirs.items():
            if key == "generated":
                continue
            if key not in ours:
                if key == "logits":
                    return "refused", "no logits are given"
                return "wrong", f"no {key}"
            apart = difference(ours[key].reshape(value.shape) if ours[key].size == value.size else ours[key], value)
            if isinstance(apart, str) or not apart <= MOST:
                return "wrong", f"{key}: {apart if isinstance(apart, str) else format(apart, '.1e')}"
            worst = max(worst, apart)
        if generates and "generated" in theirs and "logits" in ours:
            made = subprocess.run([*attnscope, "generate", folder, *(["--image", image] if image_token else []),
                                   "--token-ids", ",".join(map(str, ids[:5 + len(image_token)])), "--tokens", "5", "--temperature", "0", "-o", out],
                                  capture_output=True, text=True)
            if made.returncode != 0:
                return "wrong", "generate: " + made.stderr.strip()
            with numpy.load(out) as file:
                got = [int(i) for i in file["generated"]] if file["generated"].dtype.kind in "iuf" else None
            want = [int(i) for i in theirs["generated"]]
            if 2 in want:  # the end of a text
                want = want[: want.index(2) + 1]
            if got is not None and got[: len(want)] != want[: len(got)]:
                return "wrong", f"generated {got}, expected {want}"
    return "right", f"{worst:.1e}"


def compare(folder, attnscope, families, table):
    versions = json.loads((folder / "versions.json").read_text())
    rows, silent = [], 0
    for family in families or FAMILIES:
        row = {"family": family}
        for what, at in (("configurations", folder / family), ("variants", folder / f"{family}~")):
            found = {"right": 0, "refused": 0, "wrong": 0, "no reference": 0}
            worst = 0.0
            for one in sorted(at.iterdir()) if at.exists() else []:
                change = (one / "change.json").read_text()
                verdict, text = compared(one, attnscope, what == "configurations")
                found[verdict] += 1
                if verdict == "right":
                    worst = max(worst, float(text))
                if verdict == "wrong" or (what == "configurations" and verdict != "right"):
                    print(f"{family} {one.name} {change}: {verdict}: {text}", flush=True)
            row[what], row[f"{what} worst"] = found, worst
            silent += found["wrong"]
        print(family, row["configurations"], row["variants"], flush=True)
        rows.append(row)
    if table:
        lines = ["# Families against transformers", "",
                 f"`tests/models/transformers_table.py` made this table with transformers {versions['transformers']} and torch {versions['torch']} "
                 f"(float64, eager attention) on {versions['date']}.", "",
                 "- *Right*: weights of attention, residuals, logits or vectors and, for configurations, five generated tokens differ by at most 5e−5 of max(1, the largest number).",
                 "- *Refused*: attnscope names the key, the value and the expected value.",
                 "- *No reference*: transformers raises an error, or makes random weights for arrays that the file does not have.",
                 "- *Variants*: `config.json` with one key deleted, nulled, doubled, halved, flipped, replaced, or added from another family.", "",
                 "| `model_type` | configurations | right | refused | largest difference | variants of keys | right | refused | no reference | silently wrong |",
                 "|---|---|---|---|---|---|---|---|---|---|"]
        total = {}
        for row in rows:
            c, v = row["configurations"], row["variants"]
            cells = [sum(c.values()), c["right"], c["refused"], f"{row['configurations worst']:.0e}", sum(v.values()), v["right"], v["refused"],
                     v["no reference"], v["wrong"] + c["wrong"]]
            lines.append(f"| `{row['family']}` | " + " | ".join(map(str, cells)) + " |")
            for n, cell in enumerate(cells):
                total[n] = total.get(n, 0) + cell if isinstance(cell, int) else ""
        lines.append("| all | " + " | ".join(str(total[n]) for n in sorted(total)) + " |")
        pathlib.Path(table).write_text("\n".join(lines) + "\n")
    return 1 if silent else 0


def main():
    what, folder, *rest = sys.argv[1:]
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random.seed(1)
    if what == "compare":
        attnscope, *rest = rest
        table = rest[rest.index("--table") + 1] if "--table" in rest else None
        return compare(folder, attnscope.split(), [one for one in rest if one in FAMILIES], table)
    return {"make": make, "variants": variants}[what](folder, rest)


if __name__ == "__main__":
    sys.exit(main())
