#include "app/common/folder.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "app/common/format.h"
#include "app/common/lower_case.h"
#include "core/dimensions.h"

namespace attn::view {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostEntries = 10'000;
constexpr std::string_view kOpened[] = {".npz",  ".npy", ".safetensors", ".gguf",
                                        ".json", ".png", ".txt"};
constexpr std::string_view kChecked[] = {".npz", ".npy", ".safetensors", ".json"};
constexpr std::string_view kSessions[] = {".json"};

/// Endings of the files that it can take; a folder of runs has none.
std::span<const std::string_view> endings_of(PromptKind kind) {
    if (kind == PromptKind::open) return kOpened;
    if (kind == PromptKind::check) return kChecked;
    if (kind == PromptKind::save) return kSessions;
    return {};
}

std::string folder_part(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_taken(const FolderEntry& entry, PromptKind kind) {
    if (entry.is_folder) return true;
    const std::string name = lower_case(entry.name);
    return std::ranges::any_of(endings_of(kind),
                               [&](std::string_view end) { return name.ends_with(end); });
}

PathRow row_of(const FolderEntry& entry, const std::string& folder, PromptKind kind) {
    const bool opens = entry.is_model && (kind == PromptKind::open || kind == PromptKind::check);
    const bool enters = entry.is_folder && !opens;
    return {folder + entry.name + (enters ? "/" : ""), entry.name + (entry.is_folder ? "/" : ""),
            entry.is_model    ? "model"
            : entry.is_folder ? "folder"
                              : bytes_text(entry.bytes),
            enters};
}

}  // namespace

Folder read_folder(const std::string& path) {
    Folder folder{folder_part(path), {}, {}};
    std::error_code fault;
    const fs::path at = folder.path.empty() ? fs::path(".") : fs::path(folder.path);
    for (fs::directory_iterator each(at, fault), end;
         !fault && each != end && folder.entries.size() < kMostEntries; each.increment(fault)) {
        std::error_code unknown;  // of a link to nothing: a file of no size
        FolderEntry entry{.name = each->path().filename().string()};
        if (entry.name.starts_with('.')) continue;
        entry.is_folder = each->is_directory(unknown);
        entry.is_model = entry.is_folder && fs::exists(each->path() / "config.json", unknown);
        const auto bytes = entry.is_folder ? 0 : each->file_size(unknown);
        entry.bytes = unknown ? 0.0 : static_cast<double>(bytes);
        folder.entries.push_back(std::move(entry));
    }
    if (fault) folder.fault = fmt::format("{}: {}", folder.path, fault.message());
    std::ranges::sort(folder.entries, {}, [](const FolderEntry& entry) {
        return std::tuple(!entry.is_folder, lower_case(entry.name), entry.name);
    });
    return folder;
}

bool lists_paths(PromptKind kind) {
    return kind == PromptKind::open || kind == PromptKind::check || kind == PromptKind::save ||
           kind == PromptKind::runs;
}

std::vector<PathRow> path_rows(const Folder& folder, const Prompt& prompt) {
    const std::string base = folder_part(prompt.path);
    if (!lists_paths(prompt.kind) || base != folder.path) return {};
    const std::string typed = lower_case(prompt.path.substr(base.size()));
    std::vector<PathRow> first, then;
    if (typed.empty() && base != "/") first.push_back({base + "../", "../", "folder above", true});
    for (const FolderEntry& entry : folder.entries) {
        const auto at = lower_case(entry.name).find(typed);
        if (at == std::string::npos || !is_taken(entry, prompt.kind)) continue;
        (at == 0 ? first : then).push_back(row_of(entry, base, prompt.kind));
    }
    first.insert(first.end(), then.begin(), then.end());
    return first;
}

}  // namespace attn::view
