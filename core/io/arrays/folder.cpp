#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/io/arrays/foreign.h"
#include "core/io/arrays/formats.h"
#include "core/io/arrays/joined.h"
#include "core/io/file.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

/// The names in the folder that find_format() knows, in order.
Result<std::vector<fs::path>> list_folder(const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code fault;
    fs::directory_iterator entry(folder, fault);
    for (; !fault && entry != fs::directory_iterator(); entry.increment(fault)) {
        std::error_code ignored;
        const fs::path& path = entry->path();
        if (path.filename().string().starts_with('.') || entry->is_directory(ignored)) continue;
        const ArrayFormat* const format = find_format(path);
        if (format != nullptr && format->in_folders) paths.push_back(path);
        if (paths.size() > kMostFiles)
            return bad_input(
                fmt::format("{} holds more than {} files of arrays; expected at most "
                            "that many",
                            folder.string(), kMostFiles));
    }
    if (fault)
        return bad_input(fmt::format("cannot read {}: {}", folder.string(), fault.message()));
    std::ranges::sort(paths);
    return paths;
}

bool is_index(const fs::path& path) { return find_format(path)->open == open_shards; }

/// "l0" of "l0.npz": what stands before the extension of the format.
std::string stem_of(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.substr(0, name.size() - find_format(path)->extension.size());
}

/// A file of the folder, and what its names may get before them.
struct Member {
    const ArrayFile* file;
    std::string stem;
    std::string full;
};

/// The names of all members: those that several have with the stem before them, and where that is not enough the full name.
std::vector<std::string> unique_names(const std::vector<Member>& members) {
    std::map<std::string, int> plain, stemmed;
    for (const Member& member : members)
        for (const std::string& name : member.file->names()) {
            ++plain[name];
            ++stemmed[fmt::format("{}.{}", member.stem, name)];
        }
    std::vector<std::string> names;
    for (const Member& member : members)
        for (const std::string& name : member.file->names()) {
            std::string with_stem = fmt::format("{}.{}", member.stem, name);
            if (plain[name] == 1)
                names.push_back(name);
            else if (stemmed[with_stem] == 1)
                names.push_back(std::move(with_stem));
            else
                names.push_back(fmt::format("{}.{}", member.full, name));
        }
    return names;
}

/// KEY.json as it is; the lines of KEY.txt as a JSON array.
Result<std::optional<std::string>> text_beside(const fs::path& folder, std::string_view key) {
    std::error_code ignored;
    const fs::path as_json = folder / fmt::format("{}.json", key);
    const fs::path as_lines = folder / fmt::format("{}.txt", key);
    if (fs::exists(as_json, ignored))
        return read_text_file(as_json).map([](std::string text) { return std::optional(text); });
    if (!fs::exists(as_lines, ignored)) return std::nullopt;
    return read_text_file(as_lines).map([](const std::string& text) {
        nlohmann::json lines = nlohmann::json::array();
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            lines.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return std::optional(lines.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    });
}

/// What the first of its files that other programs read is, see foreign_text(); "": there is none.
std::string foreign_in(const fs::path& folder) {
    std::vector<std::string> items;
    std::error_code fault;
    for (fs::directory_iterator entry(folder, fault); !fault && entry != fs::directory_iterator();
         entry.increment(fault))
        items.push_back(foreign_file(entry->path()));
    std::erase(items, "");
    return items.empty() ? "" : *std::ranges::min_element(items);
}

/// Nothing but the texts of a folder.
class FolderTexts final : public ArrayFile {
  public:
    explicit FolderTexts(const fs::path& folder) : ArrayFile(folder.string()), folder_(folder) {}
    Result<std::optional<std::string>> text(std::string_view key) const override {
        return text_beside(folder_, key);
    }

  private:
    Result<ArrayInfo> about_at(std::size_t, const std::string& what) const override {
        return bad_input(fmt::format("{} is not there", what));
    }
    Result<NpyArray> read_at(std::size_t, const std::string& what, double) const override {
        return bad_input(fmt::format("{} is not there", what));
    }
    fs::path folder_;
};

}  // namespace

Result<std::vector<fs::path>> arrays_in(const fs::path& folder) {
    auto paths = list_folder(folder);
    if (!paths) return paths;
    std::set<fs::path> behind;  // shards come with their index
    std::erase_if(*paths, [&](const fs::path& path) {
        if (!is_index(path)) return false;
        const auto shards = shards_of(path);
        // One that names other files than .safetensors is of another copy of the model.
        const auto of_torch = [](const std::string& shard) { return shard.ends_with(".bin"); };
        if (!shards || std::ranges::any_of(*shards, of_torch))
            return !path.filename().string().ends_with(".safetensors.index.json");
        for (const std::string& shard : *shards) behind.insert(folder / shard);
        return false;
    });
    std::erase_if(*paths, [&](const fs::path& path) { return behind.contains(path); });
    return paths;
}

Result<Arrays> open_folder(const fs::path& folder) {
    const auto paths = arrays_in(folder);
    if (!paths) return tl::unexpected(paths.error());
    std::vector<Arrays> files;
    std::vector<Member> members;
    std::vector<JoinedArrays::Place> places;
    for (const fs::path& path : *paths) {
        auto file = open_arrays(path);
        if (!file) return file;
        members.push_back({file->get(), stem_of(path), path.filename().string()});
        for (const std::string& name : (*file)->names()) places.push_back({files.size(), name});
        files.push_back(*std::move(file));
    }
    if (files.empty()) {
        std::string foreign = foreign_in(folder);
        if (!foreign.empty()) return bad_input(std::move(foreign));
        return bad_input(fmt::format("{} is a folder without arrays; expected files {} in it",
                                     folder.string(), array_file_text(true)));
    }
    std::vector<std::string> names = unique_names(members);
    files.push_back(std::make_unique<FolderTexts>(folder));
    return JoinedArrays::join(folder.string(), std::move(files), std::move(names),
                              std::move(places));
}

}  // namespace attn
