#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attn::view {

struct Document;

/// Where assets of that kind ("presets", "tours") are looked for: $ATTNSCOPE_ASSETS, next to the installed binary, the
/// source tree.
std::vector<std::filesystem::path> asset_folders(std::string_view kind);
/// Those of the first of these folders that has any, in the order of their names.
std::vector<std::filesystem::path> asset_files(std::string_view kind);

/// The names of the trained models that come with the program: "pronouns", …. Looked up once.
const std::vector<std::string>& built_in_models();
/// The folder of a trained model that comes with the program ("pronouns"); empty: unknown name.
std::filesystem::path built_in_model(std::string_view name);
/// Its name, by its folder; "": another folder.
std::string built_in_name(const std::filesystem::path& folder);
/// A sentence with toy weights, or a model that comes with the program: no file of the person's.
bool comes_with_program(const Document& document);

}  // namespace attn::view
