#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/subcommands.h"
#include "app/common/assets.h"
#include "attn_version.h"
#include "core/io/arrays/array_file.h"

namespace attn::cli {
namespace {

using nlohmann::ordered_json;

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

}  // namespace

int run_info(Args args, Streams io) {
    CLI::App app("Shows the version, the backends and the preset folders.", "attnscope info");
    bool as_json = false;
    app.add_flag("--json", as_json, "as a JSON object");
    if (const std::optional<int> code = parse(app, args, io)) return *code;
    const ordered_json all = gather(io.backends);
    io.out << (as_json ? all.dump(2) + '\n' : as_text(all));
    return kSuccess;
}

}  // namespace attn::cli
