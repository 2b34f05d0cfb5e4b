#include <algorithm>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "app/view/document/document.h"
#include "attn_tree.h"
#include "core/io/file.h"
#include "core/text.h"

namespace attn::view {
namespace {

namespace fs = std::filesystem;

/// The folder of the running program; empty where the system does not tell.
fs::path program_folder() {
    std::error_code failed;
    const fs::path program = fs::read_symlink("/proc/self/exe", failed);
    return failed ? fs::path() : program.parent_path();
}

std::vector<fs::path> json_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (entry->path().extension() == ".json") files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

Result<Document> read_preset(const fs::path& path) {
    return read_text_file(path)
        .and_then([&](const std::string& text) { return document_from_json(text, path.string()); })
        .map([&](Document document) {
            document.name = path.stem().string();
            return document;
        });
}

}  // namespace

std::vector<fs::path> asset_folders() {
    std::vector<fs::path> folders;
    if (const char* named = std::getenv("ATTNSCOPE_ASSETS"); named != nullptr && *named != '\0')
        folders.emplace_back(fs::path(named) / "presets");
    if (const fs::path folder = program_folder(); !folder.empty())
        folders.push_back((folder / ATTN_INSTALL_ASSETS / "presets").lexically_normal());
    folders.emplace_back(fs::path(ATTN_SOURCE_ASSETS) / "presets");
    return folders;
}

std::vector<Preset> list_presets() {
    for (const fs::path& folder : asset_folders()) {
        std::vector<Preset> presets;
        for (const fs::path& path : json_files(folder)) {
            const auto document = read_preset(path);
            const std::string key = path.stem().string();
            presets.push_back({key, document ? document->title : key + " (has an error)", path});
        }
        if (!presets.empty()) return presets;
    }
    return {};
}

Result<Document> load_preset(std::string_view key) {
    for (const fs::path& folder : asset_folders())
        for (const fs::path& path : json_files(folder))
            if (path.stem().string() == key) return read_preset(path);
    std::string keys;
    for (const Preset& preset : list_presets()) keys += (keys.empty() ? "" : ", ") + preset.key;
    return bad_input(fmt::format(
        "there is no preset '{}': {}", shortened(key),
        keys.empty() ? "no preset files were found" : fmt::format("choose one of {}", keys)));
}

}  // namespace attn::view
