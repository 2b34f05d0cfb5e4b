#include "core/models/source.h"

#include <fmt/format.h>

#include "core/io/arrays/foreign.h"
#include "core/io/file.h"

namespace attn {
namespace {

/// "lora-merged" of "lora" or "lora/".
std::string merged_folder(const std::filesystem::path& folder) {
    const auto named = folder.has_filename() ? folder : folder.parent_path();
    return named.string() + "-merged";
}

/// An adapter adds to the weights of another model: what stands beside it is not what it was trained for.
Result<void> refuse_adapter(const std::filesystem::path& folder) {
    for (const char* name :
         {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"}) {
        if (!is_there(folder / name)) continue;
        return bad_input(
            fmt::format("{} is of a LoRA adapter, which adds to the weights of a model; expected a "
                        "whole model, "
                        "which Python saves: import peft, transformers as t; "
                        "peft.AutoPeftModelForCausalLM.from_pretrained({}).merge_and_unload().save_"
                        "pretrained({}); "
                        "t.AutoTokenizer.from_pretrained({}).save_pretrained({})",
                        (folder / name).string(), python_text(folder.string()),
                        python_text(merged_folder(folder)), python_text(folder.string()),
                        python_text(merged_folder(folder))));
    }
    return {};
}

Result<Arrays> weights_in(const std::filesystem::path& folder) {
    for (const std::string_view name : kWeightFiles)
        if (is_there(folder / name)) return open_arrays(folder / name);
    return open_arrays(folder);
}

}  // namespace

bool is_there(const std::filesystem::path& file) {
    std::error_code ignored;
    return std::filesystem::exists(file, ignored);
}

Result<void> read_preparation(const std::filesystem::path& folder, ModelConfig& config) {
    const auto file = folder / "preprocessor_config.json";
    if ((!config.image && !config.sound) || !is_there(file)) return {};
    const auto text = read_text_file(file);
    if (!text) return tl::unexpected(text.error());
    if (config.sound) return check_sound_preparation(*text, file.string(), *config.sound);
    auto image = parse_image_preparation(*text, file.string(), *std::move(config.image));
    if (!image) return tl::unexpected(image.error());
    config.image = *std::move(image);
    return {};
}

Result<ModelSource> open_model_folder(const std::filesystem::path& folder) {
    if (auto whole = refuse_adapter(folder); !whole) return tl::unexpected(whole.error());
    auto config = read_model_config(folder / "config.json");
    if (!config) return tl::unexpected(config.error());
    if (auto valid = read_preparation(folder, *config); !valid)
        return tl::unexpected(valid.error());
    return weights_in(folder).map([&](Arrays&& file) {
        return ModelSource{*std::move(config), {}, std::move(file), {}};
    });
}

Result<std::optional<Tokenizer>> tokenizer_of_folder(const std::filesystem::path& folder) {
    bool any = false;
    for (const char* name :
         {"tokenizer.json", "vocab.json", "vocab.txt", "tokenizer.model", "spiece.model"})
        any |= is_there(folder / name);
    if (!any) return std::nullopt;
    return Tokenizer::open(folder).map(
        [](Tokenizer&& tokenizer) { return std::optional(std::move(tokenizer)); });
}

}  // namespace attn
