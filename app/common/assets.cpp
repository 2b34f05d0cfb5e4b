#include "app/common/assets.h"
#include "app/common/document/document.h"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "attn_tree.h"
#include "core/platform.h"

namespace attn::view {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> json_files(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed))
        if (entry->path().extension() == ".json") files.push_back(entry->path());
    std::sort(files.begin(), files.end());
    return files;
}

}  // namespace

std::vector<fs::path> asset_folders(std::string_view kind) {
    std::vector<fs::path> folders;
    if (const char* named = std::getenv("ATTNSCOPE_ASSETS"); named != nullptr && *named != '\0')
        folders.emplace_back(fs::path(named) / kind);
    if (const fs::path folder = platform::program_path().parent_path(); !folder.empty())
        folders.push_back((folder / ATTN_INSTALL_ASSETS / kind).lexically_normal());
    folders.emplace_back(fs::path(ATTN_SOURCE_ASSETS) / kind);
    return folders;
}

std::vector<fs::path> asset_files(std::string_view kind) {
    for (const fs::path& folder : asset_folders(kind))
        if (auto files = json_files(folder); !files.empty()) return files;
    return {};
}

const std::vector<std::string>& built_in_models() {
    static const std::vector<std::string> once = [] {
        std::vector<std::string> names;
        for (const fs::path& recipe : asset_files("models"))
            if (const std::string name = recipe.stem().string(); !built_in_model(name).empty())
                names.push_back(name);
        return names;
    }();
    return once;
}

fs::path built_in_model(std::string_view name) {
    if (name.empty() || name.find_first_of("/\\.") != name.npos) return {};
    std::error_code failed;
    for (const fs::path& folder : asset_folders("models"))
        if (fs::exists(folder / name / "config.json", failed)) return folder / name;
    return {};
}

bool comes_with_program(const Document& document) {
    const ModelOrigin* const model = model_of(document);
    return is_toy(document) || (model != nullptr && !built_in_name(model->path).empty());
}

std::string built_in_name(const fs::path& folder) {
    std::error_code failed;
    const fs::path whole = fs::absolute(folder, failed).lexically_normal();
    const auto folders = asset_folders("models");
    const bool is_one = std::ranges::find(folders, whole.parent_path()) != folders.end();
    return is_one ? whole.filename().string() : "";
}

}  // namespace attn::view
