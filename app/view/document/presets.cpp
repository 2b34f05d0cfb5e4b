#include <algorithm>
#include <cstdlib>
#include <map>
#include <mutex>
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

/// What a list says of a preset, by its file; read again when the file is another.
class Titles {
  public:
    std::string of(const fs::path& path) {
        std::error_code failed;
        const auto written = fs::last_write_time(path, failed);
        const std::lock_guard lock(mutex_);
        Known& known = known_[path];
        if (failed || known.title.empty() || known.written != written)
            known = {written, title_of(path)};
        return known.title;
    }

  private:
    struct Known {
        fs::file_time_type written;
        std::string title;
    };
    static std::string title_of(const fs::path& path) {
        const auto document = read_preset(path);
        return document ? document->title : path.stem().string() + " (has an error)";
    }

    std::mutex mutex_;
    std::map<fs::path, Known> known_;
};

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
    static Titles titles;
    for (const fs::path& folder : asset_folders()) {
        std::vector<Preset> presets;
        for (const fs::path& path : json_files(folder))
            presets.push_back({path.stem().string(), titles.of(path), path});
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
