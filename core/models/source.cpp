#include "core/models/source.h"

#include <fmt/format.h>

#include "core/io/arrays/foreign.h"
#include "core/io/file.h"
#include "core/io/json.h"

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

/// The processor of texts and images counts image tokens as config.json does.
Result<void> check_processor(const std::filesystem::path& file, const ModelConfig& config) {
    if (!config.image || !is_there(file)) return {};
    const auto read = read_json_file(file);
    if (!read) return tl::unexpected(read.error());
    if (!read->is_object()) return bad_input(fmt::format("{} is not a JSON object", file.string()));
    const nlohmann::json patch = read->value("patch_size", nlohmann::json());
    if (!patch.is_null() && patch != config.image->patch)
        return bad_input(fmt::format("{} has 'patch_size' = {}; expected {}, as config.json",
                                     file.string(), patch.dump(), config.image->patch));
    const nlohmann::json strategy = read->value("vision_feature_select_strategy", nlohmann::json());
    const char* const expected = config.image_prompt->drops_class ? "default" : "full";
    if (!strategy.is_null() && strategy != expected)
        return bad_input(fmt::format(
            "{} has 'vision_feature_select_strategy' = {}; expected \"{}\", as config.json",
            file.string(), strategy.dump(), expected));
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
    auto file = folder / "preprocessor_config.json";
    if (config.image_prompt)
        if (auto valid = check_processor(folder / "processor_config.json", config); !valid)
            return valid;
    const bool nested = config.image_prompt && !is_there(file);
    if (nested) file = folder / "processor_config.json";
    if ((!config.image && !config.sound) || !is_there(file)) return {};
    auto text = read_text_file(file);
    if (!text) return tl::unexpected(text.error());
    if (nested) {  // as transformers 5 saves it
        const auto whole = read_json_file(file);
        if (!whole) return tl::unexpected(whole.error());
        if (!whole->is_object() || !whole->contains("image_processor")) return {};
        *text = (*whole)["image_processor"].dump();
    }
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
