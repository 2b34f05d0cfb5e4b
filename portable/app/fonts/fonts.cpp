#include "app/fonts/fonts.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>

#include "app/common/assets.h"

namespace attn::fonts {
namespace {

namespace fs = std::filesystem;

// In place of fontconfig: the fonts lie with the program, in its assets' folder `fonts`.

struct Packed {
    Family family;
    const char* file;
};
constexpr Packed kFiles[] = {
    {{"Inter"}, "Inter-Regular.otf"},
    {{"Inter", Cut::bold}, "Inter-Bold.otf"},
    {{"JetBrains Mono"}, "JetBrainsMono-Regular.ttf"},
    {{"STIXGeneral"}, "STIXGeneral-Regular.otf"},
    {{"STIXGeneral", Cut::italic}, "STIXGeneral-Italic.otf"},
    {{"DejaVu Sans"}, "DejaVuSans.ttf"},
    {{"DejaVu Sans", Cut::bold}, "DejaVuSans-Bold.ttf"},
    {{"DejaVu Sans Mono"}, "DejaVuSansMono.ttf"},
};

std::optional<File> look_up(const char* name) {
    std::error_code failed;
    for (const fs::path& folder : view::asset_folders("fonts")) {
        const std::string path = (folder / name).string();
        if (!fs::exists(folder / name, failed)) continue;
        if (const auto line = line_per_em(path, 0)) return File{path, 0, *line};
    }
    return std::nullopt;
}

}  // namespace

std::optional<File> find(const Family& family) {
    const auto* const found = std::ranges::find_if(kFiles, [&](const Packed& file) {
        return file.family.name == family.name && file.family.cut == family.cut;
    });
    if (found == std::end(kFiles)) return std::nullopt;
    static std::mutex mutex;
    static std::map<const char*, std::optional<File>> known;
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(found->file);
    if (is_new) place->second = look_up(found->file);
    return place->second;
}

std::string_view contents(const File& file) {
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::lock_guard lock(mutex);
    const auto [place, is_new] = known.try_emplace(file.path);
    if (is_new) {
        std::ostringstream bytes;
        bytes << std::ifstream(fs::path(file.path), std::ios::binary).rdbuf();
        place->second = std::move(bytes).str();
    }
    return place->second;
}

void use_packed() {}

void preload() {
    for (std::size_t face = 0; face < view::kFaceCount; ++face)
        for (const Family& family : families(static_cast<view::Face>(face)))
            if (const auto file = find(family)) contents(*file);
}

}  // namespace attn::fonts
