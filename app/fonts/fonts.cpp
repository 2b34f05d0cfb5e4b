#include "app/fonts/fonts.h"

#include <fontconfig/fontconfig.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>

#include "app/common/assets.h"

namespace attn::fonts {
namespace {

struct Free {
    void operator()(FcPattern* pattern) const { FcPatternDestroy(pattern); }
};
using Pattern = std::unique_ptr<FcPattern, Free>;

Pattern best_match(Pattern wanted) {
    FcConfigSubstitute(nullptr, wanted.get(), FcMatchPattern);
    FcDefaultSubstitute(wanted.get());
    FcResult result = FcResultNoMatch;
    return Pattern(FcFontMatch(nullptr, wanted.get(), &result));
}

/// fontconfig always answers with some font: this says whether it is the one asked for.
bool is_family(FcPattern* found, const Family& family) {
    FcChar8* name = nullptr;
    int slant = FC_SLANT_ROMAN;
    int weight = FC_WEIGHT_REGULAR;
    FcPatternGetInteger(found, FC_SLANT, 0, &slant);
    FcPatternGetInteger(found, FC_WEIGHT, 0, &weight);
    return FcPatternGetString(found, FC_FAMILY, 0, &name) == FcResultMatch &&
           reinterpret_cast<const char*>(name) == family.name &&
           (slant != FC_SLANT_ROMAN) == (family.cut == Cut::italic) &&
           (weight >= FC_WEIGHT_SEMIBOLD) == (family.cut == Cut::bold);
}

std::optional<File> file_of(FcPattern* found) {
    FcChar8* path = nullptr;
    File file;
    if (FcPatternGetString(found, FC_FILE, 0, &path) != FcResultMatch) return std::nullopt;
    FcPatternGetInteger(found, FC_INDEX, 0, &file.index);
    file.index &= 0xFFFF;  // above: the instance of a variable font
    file.path = reinterpret_cast<const char*>(path);
    const auto line = line_per_em(file.path, file.index);
    if (!line) return std::nullopt;
    file.line_per_em = *line;
    return file;
}

std::optional<File> look_up(const Family& family) {
    const std::string name(family.name);
    Pattern wanted(FcPatternBuild(
        nullptr, FC_FAMILY, FcTypeString, name.c_str(), FC_WEIGHT, FcTypeInteger,
        family.cut == Cut::bold ? FC_WEIGHT_BOLD : FC_WEIGHT_REGULAR, FC_SLANT, FcTypeInteger,
        family.cut == Cut::italic ? FC_SLANT_ITALIC : FC_SLANT_ROMAN, nullptr));
    const Pattern found = best_match(std::move(wanted));
    if (!found || !is_family(found.get(), family)) return std::nullopt;
    return file_of(found.get());
}

std::string read_all(const std::string& path) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const std::streamoff size = file.tellg();
    if (size <= 0) return {};
    std::string bytes(static_cast<std::size_t>(size), '\0');
    file.seekg(0);
    file.read(bytes.data(), size);
    return file.good() ? bytes : std::string();
}

/// Made once for each key.
template <class Key, class Value>
class Known {
  public:
    template <class Make>
    const Value& operator()(const Key& key, Make make) {
        const std::lock_guard lock(mutex_);
        auto place = values_.find(key);
        if (place == values_.end()) place = values_.emplace(key, make()).first;
        return place->second;
    }

  private:
    std::mutex mutex_;
    std::map<Key, Value> values_;
};

}  // namespace

std::optional<File> find(const Family& family) {
    static Known<std::pair<std::string, Cut>, std::optional<File>> known;
    return known({std::string(family.name), family.cut}, [&] { return look_up(family); });
}

std::string_view contents(const File& file) {
    static Known<std::string, std::string> known;
    return known(file.path, [&] { return read_all(file.path); });
}

void use_packed() {
    std::error_code failed;
    for (const std::filesystem::path& folder : view::asset_folders("fonts"))
        if (const auto file = folder / "fonts.conf"; std::filesystem::exists(file, failed)) {
            ::setenv("FONTCONFIG_FILE", file.c_str(), 0);
            return;
        }
}

void preload() {
    for (std::size_t face = 0; face < view::kFaceCount; ++face)
        for (const Family& family : families(static_cast<view::Face>(face)))
            if (const auto file = find(family)) contents(*file);
}

}  // namespace attn::fonts
