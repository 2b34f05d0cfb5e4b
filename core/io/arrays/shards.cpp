#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "core/io/arrays/formats.h"
#include "core/io/arrays/joined.h"
#include "core/io/json.h"
#include "core/text.h"

namespace attn {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using WeightMap = std::map<std::string, std::string>;  // file by array

/// A file of weights beside the index: no other folder.
bool is_shard_name(const json& value) {
    if (!value.is_string()) return false;
    const auto& name = value.get_ref<const std::string&>();
    return (name.ends_with(".safetensors") || name.ends_with(".bin")) &&
           fs::path(name).filename() == fs::path(name);
}

Result<WeightMap> read_index(const fs::path& index) {
    const auto parsed = read_json_file(index);
    if (!parsed) return tl::unexpected(parsed.error());
    const bool has = parsed->is_object() && parsed->contains("weight_map");
    if (!has || !(*parsed)["weight_map"].is_object())
        return bad_input(
            fmt::format("{} has no weight_map; expected an object of array names, "
                        "each with its file",
                        index.string()));
    WeightMap map;
    for (const auto& [name, file] : (*parsed)["weight_map"].items()) {
        if (!is_shard_name(file))
            return bad_input(fmt::format(
                "{}: {} should be in {}; expected a .safetensors or .bin file of the same folder",
                index.string(), shortened(name),
                file.is_structured() ? std::string(file.type_name()) : shortened(file.dump())));
        map.emplace(name, file.get<std::string>());
    }
    return map;
}

std::vector<std::string> shards_in(const WeightMap& map) {
    std::set<std::string> shards;
    for (const auto& [name, shard] : map) shards.insert(shard);
    return {shards.begin(), shards.end()};
}

Result<Arrays> open_shard(const fs::path& index, const WeightMap& map, const std::string& shard) {
    const fs::path path = index.parent_path() / shard;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return open_arrays(path);
    const auto first = std::ranges::find(map, shard, &WeightMap::value_type::second);
    const auto count = std::ranges::count(map, shard, &WeightMap::value_type::second);
    return bad_input(fmt::format("{}: the shard {} is missing; it has {} of {} ({}{})",
                                 index.string(), shard, count, counted(map.size(), "array"),
                                 shortened(first->first), count > 1 ? ", …" : ""));
}

}  // namespace

Result<std::vector<std::string>> shards_of(const fs::path& index) {
    return read_index(index).map(shards_in);
}

Result<Arrays> open_shards(const fs::path& index) {
    const Result<WeightMap> map = read_index(index);
    if (!map) return tl::unexpected(map.error());
    const std::vector<std::string> shards = shards_in(*map);
    std::vector<Arrays> files;
    for (const std::string& shard : shards) {
        auto file = open_shard(index, *map, shard);
        if (!file) return file;
        files.push_back(*std::move(file));
    }
    std::vector<std::string> names;
    std::vector<JoinedArrays::Place> places;
    for (const auto& [name, shard] : *map) {
        const auto at =
            static_cast<std::size_t>(std::ranges::lower_bound(shards, shard) - shards.begin());
        if (!files[at]->contains(name))
            return bad_input(fmt::format("{}: {} should be in {}, which does not have it",
                                         index.string(), shortened(name), shard));
        names.push_back(name);
        places.push_back({at, name});
    }
    return JoinedArrays::join(index.string(), std::move(files), std::move(names),
                              std::move(places));
}

}  // namespace attn
