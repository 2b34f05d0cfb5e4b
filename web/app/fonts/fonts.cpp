#include "app/fonts/fonts.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <sstream>

namespace attn::fonts {
namespace {

// The fonts lie in the page, in /fonts.

struct Persisted {
    Family family;
    const char* path;
};
constexpr Persisted kFiles[] = {
    {{"Inter"}, "/fonts/Inter-Regular.otf"},
    {{"Inter", Cut::bold}, "/fonts/Inter-Bold.otf"},
    {{"JetBrains Mono"}, "/fonts/JetBrainsMono-Regular.ttf"},
    {{"STIXGeneral"}, "/fonts/STIXGeneral-Regular.otf"},
    {{"STIXGeneral", Cut::italic}, "/fonts/STIXGeneral-Italic.otf"},
    {{"DejaVu Sans"}, "/fonts/DejaVuSans.ttf"},
    {{"DejaVu Sans", Cut::bold}, "/fonts/DejaVuSans-Bold.ttf"},
    {{"DejaVu Sans Mono"}, "/fonts/DejaVuSansMono.ttf"},
};

}  // namespace

std::optional<File> find(const Family& family) {
    const auto* const found = std::ranges::find_if(kFiles, [&](const Persisted& file) {
        return file.family.name == family.name && file.family.cut == family.cut;
    });
    if (found == std::end(kFiles)) return std::nullopt;
    const auto line = line_per_em(found->path, 0);
    if (!line) return std::nullopt;
    return File{found->path, 0, *line};
}

std::string_view contents(const File& file) {
    static std::map<std::string, std::string> known;
    const auto [place, isnew] = known.try_emplace(file.path);
    if (isnew) {
        std::ostringstream bytes;
        bytes << std::ifstream(file.path, std::ios::binary).rdbuf();
        place->second = std::move(bytes).str();
    }
    return place->second;
}

void preload() {}

}  // namespace attn::fonts
