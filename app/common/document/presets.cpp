#include <map>
#include <mutex>
#include <system_error>

#include <fmt/format.h>

#include "app/common/assets.h"
#include "app/common/document/document.h"
#include "core/io/file.h"
#include "core/text.h"

namespace attn::view {
namespace {

namespace fs = std::filesystem;

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

std::vector<Preset> list_presets() {
    static Titles titles;
    std::vector<Preset> presets;
    for (const fs::path& path : asset_files("presets"))
        presets.push_back({path.stem().string(), titles.of(path), path});
    return presets;
}

Result<Document> load_preset(std::string_view key) {
    for (const fs::path& path : asset_files("presets"))
        if (path.stem().string() == key) return read_preset(path);
    std::string keys;
    for (const Preset& preset : list_presets()) keys += (keys.empty() ? "" : ", ") + preset.key;
    return bad_input(fmt::format(
        "there is no preset '{}': {}", shortened(key),
        keys.empty() ? "no preset files were found" : fmt::format("choose one of {}", keys)));
}

}  // namespace attn::view
