#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/io/gguf.h"
#include "core/models/source.h"

namespace attn {

// A model of llama.cpp in one file. For whoever includes this: link attn::json too.

/// A file that begins as GGUF, or whose name ends in .gguf.
bool is_gguf(const std::filesystem::path& file);

Result<ModelSource> open_gguf_model(const std::filesystem::path& file);

/// Of the same, with the names and the order of rows that Hugging Face's files have: llama.cpp stores queries and keys of
/// Llama and Granite with the columns of each pair that turns side by side.
Result<Arrays> weights_of_gguf(GgufArrays file, const ModelConfig& config);

/// As the config.json of the same model: each key that llama.cpp has for the architecture has its own there, is without effect, or
/// is named in `notes`. Architectures: "llama, qwen2, …".
Result<ModelConfig> config_of_gguf(const GgufArrays& file, const std::string& where,
                                   std::vector<std::string>& notes);

/// Of the keys tokenizer.ggml.*: byte pairs ("gpt2"), or pieces with scores ("llama", "t5").
Result<Tokenizer> tokenizer_of_gguf(const nlohmann::json& values, const std::string& where);

}  // namespace attn
