#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace attn::view {

/// Where assets of that kind ("presets", "tours") are looked for: $ATTNSCOPE_ASSETS, next to the installed binary, the
/// source tree.
std::vector<std::filesystem::path> asset_folders(std::string_view kind);
/// Those of the first of these folders that has any, in the order of their names.
std::vector<std::filesystem::path> asset_files(std::string_view kind);

}  // namespace attn::view
