#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "app/cli/command.h"
#include "app/cli/subcommands.h"
#include "app/common/assets.h"
#include "app/common/document/preset.h"
#include "app/common/or_throw.h"
#include "app/files/model.h"
#include "attn_version.h"
#include "core/io/arrays/array_file.h"
#include "core/models/family.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view kInfoName = "attnscope info";

#ifdef NDEBUG
constexpr std::string_view kBuild = "release";
#else
constexpr std::string_view kBuild = "debug";
#endif

std::string compiler() {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

ordered_json gather(BackendList backends) {
    ordered_json all{{"version", ATTN_VERSION}, {"build", kBuild}, {"compiler", compiler()}};
    all["backends"] = ordered_json::array();
    for (const Backend* backend : backends) {
        const std::optional<std::string> reason = backend->unavailable();
        all["backends"].push_back(
            {{"name", backend->name()},
             {"available", !reason},
             {"words", reason ? *reason : std::string(backend->description())}});
    }
    all["formats"] = ordered_json::array();
    for (const ArrayFormat& format : array_formats())
        all["formats"].push_back({{"extension", format.extension}, {"words", format.text}});
    all["presets"] = ordered_json::array();
    for (const view::Preset& preset : view::list_presets())
        all["presets"].push_back(preset.path.string());
    all["preset_folders"] = ordered_json::array();
    for (const auto& folder : view::asset_folders("presets"))
        all["preset_folders"].push_back(folder.string());
    return all;
}

std::string text_of(const ordered_json& word) { return word.get<std::string>(); }

std::string as_text(const ordered_json& all) {
    std::string text =
        fmt::format("attnscope {} ({} build, {})\n\nbackends\n", text_of(all["version"]),
                    text_of(all["build"]), text_of(all["compiler"]));
    for (const ordered_json& backend : all["backends"])
        text += fmt::format(
            "  {:<10} {}{}\n", text_of(backend["name"]),
            backend["available"].get<bool>() ? "" : "not available: ", text_of(backend["words"]));
    text += "\nfiles of tensors\n";
    for (const ordered_json& format : all["formats"])
        text +=
            fmt::format("  {:<12} {}\n", text_of(format["extension"]), text_of(format["words"]));
    text += "\npresets\n";
    for (const ordered_json& preset : all["presets"])
        text += fmt::format("  {}\n", text_of(preset));
    if (all["presets"].empty()) text += "  none\n";
    text += "searched in\n";
    for (const ordered_json& folder : all["preset_folders"])
        text += fmt::format("  {}\n", text_of(folder));
    return text;
}

/// The sizes of a model, without the weights of its blocks in memory.
ordered_json model_json(const std::string& path, Streams io) {
    if (std::error_code ignored; !std::filesystem::exists(path, ignored))
        throw bad_input(fmt::format(
            "there is no '{}'; expected a trained model's folder, its .gguf, or one of {}", path,
            fmt::join(view::built_in_models(), ", ")));
    const auto model = or_throw(Model::open(path, LoadedBlocks::one));
    for (const std::string& note : model.notes()) write_note(note, kInfoName, io);
    const ModelConfig& config = model.config();
    const auto number = [](Index value) {
        return value > 0 ? ordered_json(value) : ordered_json();
    };
    const auto most = model.most_tokens();
    const auto groups = groups_of(model);
    return {{"family", config.family->key},
            {"name", config.family->text},
            {"layers", config.layers},
            {"heads", config.heads},
            {"kv_heads", number(config.kv_heads)},
            {"width", config.width},
            {"vocabulary", number(config.vocabulary)},
            {"most_tokens", most ? ordered_json(*most) : ordered_json()},
            {"reads", config.image   ? "image"
                      : config.sound ? "sound"
                                     : "text"},
            {"has_tokenizer", model.tokenizer() != nullptr},
            {"gives_logits", model.gives_logits()},
            {"groups", std::vector<std::string>(groups.begin(), groups.end())},
            {"default_text", config.default_text}};
}

std::string model_as_text(const ordered_json& model) {
    std::string text;
    for (const auto& [key, value] : model.items())
        text += fmt::format("{:<14} {}\n", key, value.is_string() ? text_of(value) : value.dump());
    return text;
}

struct InfoOptions {
    std::string model;
    bool json = false;
};

void declare_info(CLI::App& app, InfoOptions& options) {
    app.add_option("MODEL", options.model,
                   "a trained model to describe instead of the program: its folder, .gguf or name");
    app.add_flag("--json", options.json, "as a JSON object");
}

void show_info(const InfoOptions& options, Streams io) {
    const bool program = options.model.empty();
    const ordered_json all =
        program ? gather(io.backends) : model_json(files::model_path(options.model), io);
    io.out << (options.json ? all.dump(2) + '\n' : program ? as_text(all) : model_as_text(all));
}

}  // namespace

int run_info(Args args, Streams io) {
    return run_command(
        "Shows the version, the backends and the preset folders; or the sizes of a trained model.",
        kInfoName, args, io, declare_info, show_info);
}

}  // namespace attn::cli
