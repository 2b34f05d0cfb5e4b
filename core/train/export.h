#pragma once

#include <filesystem>

#include "core/io/arrays/safetensors_write.h"
#include "core/train/moment.h"

namespace attn::train {

struct Spec;

/// Writes a model as Hugging Face's transformers read it: config.json, model.safetensors, tokenizer.json and
/// tokenizer_config.json (whole words between white space). A causal one is GPT2LMHeadModel, another one
/// MegatronBertForTokenClassification, whose classes are the words.
/// Logits equal the trainer's but for rounding. Biases that the trainer's model has not are 0; a head is as wide as d_model / heads,
/// so columns beyond d_k are 0 and W_Q is multiplied by what makes up for ÷√d_k, the temperature and missing scaling.
/// Refused with the field's name: what these classes cannot compute, which are rotary positions, no norm, heads that do not divide
/// d_model, and d_k or d_v above d_model / heads.
Result<void> export_hf(const std::filesystem::path& folder, const Spec& spec, const State& moment,
                       StoredFloat type = StoredFloat::float32);

/// The moment with every weight as float16 stores it.
State rounded_to_half(const State& moment);

}  // namespace attn::train
