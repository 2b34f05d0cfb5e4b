#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/io/arrays/array_file.h"
#include "core/models/config.h"
#include "core/models/tokenizer.h"

namespace attn {

/// What a model is made of. For whoever includes this: link attn::json too.
struct ModelSource {
    ModelConfig config;
    nlohmann::json values;  // keys of GGUF; empty: of a folder
    Arrays weights;         // under the names of config.family
    std::vector<std::string> notes;
};
/// The files of weights that a model's folder can have; the first that is there is read.
inline constexpr std::string_view kWeightFiles[] = {
    "model.safetensors.index.json", "model.safetensors", "pytorch_model.bin.index.json",
    "pytorch_model.bin"};
/// config.json, preprocessor_config.json and the arrays of a folder; that of an adapter is refused.
Result<ModelSource> open_model_folder(const std::filesystem::path& folder);
/// What its preprocessor_config.json says of the pixels, where there is one and the model reads images.
Result<void> read_preparation(const std::filesystem::path& folder, ModelConfig& config);
/// False also where it cannot be looked at, as behind links that lead in a circle.
bool is_there(const std::filesystem::path& file);
/// nullopt: it has none.
Result<std::optional<Tokenizer>> tokenizer_of_folder(const std::filesystem::path& folder);

}  // namespace attn
