#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace attn::view {

struct Document;

/// One preset of assets/presets; see asset_files().
struct Preset {
    std::string key;  // file name without .json
    std::string title;
    std::filesystem::path path;
};
inline constexpr std::string_view kFirstPreset =
    "the-cat-sat-down";  // of a window that asks for nothing else
std::vector<Preset> list_presets();
Result<Document> load_preset(std::string_view key);

}  // namespace attn::view
